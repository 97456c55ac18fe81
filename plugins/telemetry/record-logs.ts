import { parseJson } from '#core/platform/json.ts';
import { anyValue, attributesOf, type LogRecord, nanoseconds, severity } from './otlp.ts';

/** A line of the journal, with the columns of a record or a body of its request. */
interface Line extends Readonly<Record<string, unknown>> {
  readonly at: 'end' | 'content';
  readonly id: string;
  readonly started_at: number;
}

/**
 * Converts a line of the journal to an OTLP log record: `daypass.request` with the columns of the record as attributes (`daypass.status`),
 * or `daypass.request.content` with the text of a prompt or a response, which the journal has only if the operator records them.
 *
 * @param now epoch ms
 * @returns an empty list for any other line
 */
export function logRecordsOf(line: string, now: number): LogRecord[] {
  const parsed = parse(line);
  if (parsed === undefined) return [];
  const { at, id, started_at: startedAt, body, outcome, duration_ms: duration = 0, method, path, ...columns } = parsed;
  const isContent = at === 'content';
  const [severityNumber, severityText] = severityOf(outcome);
  const members = isContent ? columns : { ...columns, method, path, outcome, duration_ms: parsed['duration_ms'] };
  return [
    {
      timeUnixNano: nanoseconds(startedAt + (isContent ? 0 : Number(duration))),
      observedTimeUnixNano: nanoseconds(now),
      severityNumber,
      severityText,
      eventName: isContent ? 'daypass.request.content' : 'daypass.request',
      body: isContent
        ? { stringValue: Buffer.from(String(body), 'base64').toString() }
        : anyValue(`${String(method)} ${String(path)} ${String(outcome)}`),
      attributes: [
        ...attributesOf({ 'daypass.request.id': id, 'daypass.started_at': new Date(startedAt).toISOString() }),
        ...attributesOf(Object.fromEntries(Object.entries(members).map(([name, value]) => [`daypass.${name}`, value]))),
      ],
      traceId: id.slice('req_'.length),
    },
  ];
}

function severityOf(outcome: unknown): (typeof severity)[keyof typeof severity] {
  if (outcome === 'failed' || outcome === 'interrupted') return severity.error;
  return outcome === 'refused' ? severity.warn : severity.info;
}

function parse(line: string): Line | undefined {
  const value = (parseJson(line) ?? {}) as Partial<Line>;
  const isKnown = (value.at === 'end' || value.at === 'content') && typeof value.id === 'string';
  return isKnown && typeof value.started_at === 'number' ? (value as Line) : undefined;
}
