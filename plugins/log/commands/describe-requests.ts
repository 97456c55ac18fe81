import { localTime } from '#core/platform/timing/time-zone.ts';
import { formatTable, type TextCell, type TextStyle } from '#core/extension/commands/table-text.ts';
import { type Formatter, formatterFor } from '#core/web/texts/formatter.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';

const heading = ['status', 'model', 'route', 'tries', 'first token', 'total', 'in', 'out', 'key', 'request'];
const numbers = [4, 5, 6, 7, 8];
/** Wide enough for most values, so that lines printed later stay aligned with the heading. */
const leastWidths = [19, 11, 24, 28, 5, 11, 10, 7, 7, 13, 36];

/** Requests as a table, in the given order. @param isContinued without the heading, below earlier lines */
export function describeRequests(
  records: readonly RequestRecord[],
  timeZone: string,
  { isContinued = false, isFollowed = false }: { readonly isContinued?: boolean; readonly isFollowed?: boolean } = {},
): string[] {
  const lines = formatTable(
    [`time (${timeZone})`, ...heading],
    records.map((record) => cellsOf(record, timeZone)),
    { numbers, ...(isFollowed && { widths: leastWidths }) },
  );
  return isContinued ? lines.slice(1) : lines;
}

function cellsOf(record: RequestRecord, timeZone: string): TextCell[] {
  const format = formatterFor('en', timeZone);
  return [
    timeOf(record.started_at, timeZone),
    statusCell(record),
    record.model ?? record.endpoint,
    record.cache === 'hit' ? 'cache' : (record.route ?? ''),
    triesCell(record),
    duration(record.first_content_ms, format),
    duration(record.duration_ms, format),
    tokens(record.input_tokens, record, format),
    tokens(record.output_tokens, record, format),
    record.key_hint ?? '',
    record.id,
  ];
}

/** `2026-11-22 14:32:07`. @param time epoch ms */
export function timeOf(time: number, timeZone: string): string {
  const { day, clock } = localTime(new Date(time), timeZone);
  return `${day} ${clock}`;
}

const styles: Readonly<Partial<Record<RequestRecord['outcome'], TextStyle>>> = {
  refused: 'yellow',
  failed: 'red',
  interrupted: 'red',
  aborted: 'dim',
};

/** `200`, `429 refused`. */
export function statusOf({ status, outcome }: Pick<RequestRecord, 'status' | 'outcome'>): string {
  const word = outcome === 'answered' ? [] : [outcome === 'aborted' ? 'client left' : outcome];
  return [...(status === null ? [] : [status]), ...word].join(' ');
}

function statusCell(record: RequestRecord): TextCell {
  const style = styles[record.outcome];
  return style === undefined ? statusOf(record) : { text: statusOf(record), style };
}

function triesCell({ attempts, has_failover: hasFailover }: RequestRecord): TextCell {
  const text = attempts === null ? '' : String(attempts.length);
  return hasFailover === true ? { text, style: 'yellow' } : text;
}

export function duration(ms: number | null | undefined, format: Formatter): string {
  return ms === null || ms === undefined ? '' : plain(format.duration(ms).text);
}

/** `~` marks counts that the gateway has estimated. */
function tokens(count: number | null, { usage_estimated: isEstimated }: RequestRecord, format: Formatter): string {
  return count === null ? '' : `${isEstimated === true ? '~' : ''}${format.number(count)}`;
}

/** With plain spaces, so that the text can be typed into a search. */
export function plain(text: string): string {
  return text.replaceAll('\u00A0', ' ');
}

/** A record in the output of `--json`. */
export function requestToJson(record: RequestRecord): object {
  return { ...record, started_at: new Date(record.started_at) };
}
