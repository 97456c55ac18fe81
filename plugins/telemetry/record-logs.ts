import { parseJson } from '#core/platform/json.ts';
import { toAnyValue, toAttributes, type LogRecord, toNanoseconds, severities } from './otlp.ts';

interface JournalLine extends Readonly<Record<string, unknown>> {
  // the columns of a record, or a body of its request
  readonly at: 'end' | 'content';
  readonly id: string;
  readonly started_at: number;
}

/**
 * Returns one record: either `daypass.request`, with the columns as attributes (`daypass.status`), or `daypass.request.content`, with the
 * text of a prompt or a response, which the journal contains only if the operator records them. Returns an empty list for any other line.
 */
export function toLogRecords(line: string, now: number): LogRecord[] {
  const parsed = parseLine(line);
  if (parsed === undefined) return [];
  const { at, id, started_at: startedAt, body, outcome, duration_ms: duration = 0, method, path, ...columns } = parsed;
  const isContent = at === 'content';
  const [severityNumber, severityText] = chooseSeverity(outcome);
  const members = isContent ? columns : { ...columns, method, path, outcome, duration_ms: parsed['duration_ms'] };
  return [
    {
      timeUnixNano: toNanoseconds(startedAt + (isContent ? 0 : Number(duration))),
      observedTimeUnixNano: toNanoseconds(now),
      severityNumber,
      severityText,
      eventName: isContent ? 'daypass.request.content' : 'daypass.request',
      body: isContent
        ? { stringValue: Buffer.from(String(body), 'base64').toString() }
        : toAnyValue(`${String(method)} ${String(path)} ${String(outcome)}`),
      attributes: [
        ...toAttributes({ 'daypass.request.id': id, 'daypass.started_at': new Date(startedAt).toISOString() }),
        ...toAttributes(Object.fromEntries(Object.entries(members).map(([name, value]) => [`daypass.${name}`, value]))),
      ],
      traceId: id.slice('req_'.length),
    },
  ];
}

function chooseSeverity(outcome: unknown): (typeof severities)[keyof typeof severities] {
  if (outcome === 'failed' || outcome === 'interrupted') return severities.error;
  return outcome === 'refused' ? severities.warn : severities.info;
}

function parseLine(line: string): JournalLine | undefined {
  const value = (parseJson(line) ?? {}) as Partial<JournalLine>;
  const isExported = (value.at === 'end' || value.at === 'content') && typeof value.id === 'string';
  return isExported && typeof value.started_at === 'number' ? (value as JournalLine) : undefined;
}
