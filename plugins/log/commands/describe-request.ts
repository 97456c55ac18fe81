import { formatFields, formatSection, formatTable, paint } from '#core/extension/commands/table-text.ts';
import { formatterFor } from '#core/web/texts/formatter.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { duration, plain, statusOf, timeOf } from './describe-requests.ts';

/** Characters of the axis that attempts are drawn on. */
const axisLength = 32;

/** Describes a record for people. @param account its name, if any */
export function describeRequest(record: RequestRecord, account: string | undefined, timeZone: string): string[] {
  return [
    ...formatFields([...requestFields(record, account, timeZone), ...answerFields(record, timeZone)]),
    ...formatSection(paint('bold', 'attempts'), describeAttempts(record, timeZone)),
    ...formatSection(paint('bold', 'notes: what the serving route got differently'), record.notes ?? []),
  ];
}

type Field = readonly [name: string, value: string | null | undefined];

function requestFields(record: RequestRecord, account: string | undefined, timeZone: string): Field[] {
  const { format } = readerOf(timeZone);
  return [
    ['request', record.id],
    ['time', `${timeOf(record.started_at, timeZone)}.${String(record.started_at % 1000).padStart(3, '0')} ${timeZone}`],
    ['account', record.account_id === null ? 'none' : [record.account_id, account].filter(Boolean).join(' ')],
    ['key', record.key_hint],
    ['endpoint', `${record.endpoint} (${record.method} ${record.path})`],
    ['format', record.format],
    ['model', record.alias_of === null ? record.model : `${record.model}, alias of ${record.alias_of}`],
    ['streamed', yesOrNo(record.is_stream)],
    ['metered', yesOrNo(record.is_metered)],
    ['request size', record.bytes_in === null ? undefined : plain(format.bytes(record.bytes_in).text)],
    ['client', record.user_agent],
    ['canary', record.canary === null ? undefined : `${record.canary}`],
    ['address', record.remote_address],
  ];
}

function answerFields(record: RequestRecord, timeZone: string): Field[] {
  const { format, took } = readerOf(timeZone);
  const error = [record.error_code, record.error_message].filter((part) => part !== null);
  return [
    ['status', statusOf(record)],
    ['error', error.length === 0 ? undefined : error.join(': ')],
    ['route', record.cache === 'hit' ? 'none: from the cache' : record.route],
    ['cache', record.cache],
    ['failover', yesOrNo(record.has_failover)],
    ['queue', record.queue_ms === null ? undefined : `waited ${took(record.queue_ms)} for a free slot`],
    ['first byte', took(record.first_byte_ms)],
    ['first token', took(record.first_content_ms)],
    ['total', took(record.duration_ms)],
    ['answered by', answeredBy(record)],
    ['digest', record.digest_sent],
    ...differentDigest(record),
    ['answer size', record.bytes_out === null ? undefined : plain(format.bytes(record.bytes_out).text)],
    ['tokens', describeTokens(record, timeZone)],
  ];
}

function answeredBy({ answered_model: model, is_other_model: isOther }: RequestRecord): string | null {
  return isOther === true ? `${model}, which is not the model that the route asks for` : model;
}

function differentDigest({
  digest_received: received,
  digest_sent: sent,
  digest_changes: changes,
}: RequestRecord): Field[] {
  if (received === sent) return [];
  return [
    ['digest received', received],
    ['changed', (changes ?? []).join(', ')],
  ];
}

function describeTokens(record: RequestRecord, timeZone: string): string | undefined {
  const { format } = readerOf(timeZone);
  const counts = [
    ['in', record.input_tokens],
    ['out', record.output_tokens],
    ['read from the prompt cache', record.cache_read_tokens],
    ['written to the prompt cache', record.cache_write_tokens],
    ['of reasoning', record.reasoning_tokens],
  ] as const;
  const known = counts.flatMap(([name, count]) => (count === null ? [] : [`${format.number(count)} ${name}`]));
  if (known.length === 0) return undefined;
  return `${known.join(', ')}${record.usage_estimated === true ? ' (estimated)' : ''}`;
}

/** Attempts, each with its position on one time axis. */
function describeAttempts({ attempts, duration_ms: total }: RequestRecord, timeZone: string): string[] {
  if (attempts === null || attempts.length === 0) return [];
  const { took } = readerOf(timeZone);
  const ends = attempts.map(({ started_ms: start, duration_ms: length }) => (start ?? 0) + (length ?? 0));
  const end = Math.max(total ?? 0, ...ends, 1);
  return formatTable(
    ['', 'route', 'outcome', 'status', 'fault', 'started', 'took', `0 to ${took(end)}`.padEnd(axisLength), 'error'],
    attempts.map((attempt, index) => {
      const isFailed = attempt.outcome === 'failed';
      const bar = barOf(attempt.started_ms ?? 0, attempt.duration_ms ?? 0, end);
      return [
        `${index + 1}`,
        attempt.route ?? '',
        isFailed ? { text: 'failed', style: 'red' } : (attempt.outcome ?? ''),
        String(attempt.status ?? ''),
        attempt.fault ?? '',
        took(attempt.started_ms) ?? '',
        took(attempt.duration_ms) ?? '',
        { text: bar, style: isFailed ? 'red' : 'green' },
        attempt.error ?? '',
      ];
    }),
    { numbers: [5, 6], longest: Infinity },
  );
}

function barOf(start: number, length: number, end: number): string {
  const from = Math.min(axisLength - 1, Math.floor((start / end) * axisLength));
  const to = Math.max(from + 1, Math.min(axisLength, Math.round(((start + length) / end) * axisLength)));
  return `${'·'.repeat(from)}${'█'.repeat(to - from)}${'·'.repeat(axisLength - to)}`;
}

function readerOf(timeZone: string) {
  const format = formatterFor('en', timeZone);
  return { format, took: (ms: number | null | undefined) => duration(ms, format) || undefined };
}

function yesOrNo(value: boolean | null): string | undefined {
  return value === null ? undefined : value ? 'yes' : 'no';
}
