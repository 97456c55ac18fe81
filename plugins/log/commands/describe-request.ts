import type { Account } from '#core/business/accounts/entities.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import {
  formatFields,
  formatSection,
  formatTable,
  formatTime,
  paint,
  plain,
} from '#core/extension/commands/table-text.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { findRequest } from '#core/gateway/records/read-requests.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { describeFacts, requestTexts } from '#core/web/requests/describe-facts.ts';
import { formatterFor } from '#core/web/texts/formatter.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { statusOf } from './requests.ts';

/** Width in characters of the axis that attempts are drawn on. */
const axisLength = 32;

/** A request, and its lines in `requests show`. */
export interface FoundRequest {
  readonly record: RequestRecord;
  describe(timeZone: string): string[];
}

/** @throws CheckoutError `not_found` */
export async function readRequest({ database }: Pick<Host, 'database'>, id: string): Promise<FoundRequest> {
  const record = await findRequest(database, id);
  if (record === undefined)
    throw new CheckoutError(
      'not_found',
      `Request ${id} not found. Requests are recorded about a second after they are over, and kept for the days of log.keep_days.`,
    );
  const name = await nameOf(database, record.account_id);
  return { record, describe: (timeZone) => describeRequest(record, name, timeZone) };
}

async function nameOf(database: Host['database'], accountId: string | null): Promise<string | undefined> {
  const [row] = await database.query<Row<typeof Account, 'name' | 'email'>>(
    'SELECT name, email FROM account WHERE id = ?',
    [accountId],
  );
  return row && (row.email === null ? row.name : `${row.name} <${row.email}>`);
}

const english = new Translator([requestTexts]).in('en');

/** @param account its name, if any */
function describeRequest(record: RequestRecord, account: string | undefined, timeZone: string): string[] {
  const format = formatterFor('en', timeZone);
  const took = (ms: number | null | undefined) => (ms == null ? undefined : plain(format.duration(ms).text));
  const time = formatTime(new Date(record.started_at), timeZone, true);
  const facts = describeFacts(record, { t: english, format }, { isForOperator: true, areRoutesNamed: true });
  return [
    ...formatFields([
      ['request', record.id],
      ['time', `${time}.${String(record.started_at % 1000).padStart(3, '0')} ${timeZone}`],
      ['account', record.account_id === null ? 'none' : [record.account_id, account].filter(Boolean).join(' ')],
      ['endpoint', `${record.endpoint} (${record.method} ${record.path})`],
      ['model', record.model],
      ['metered', yesOrNo(record.is_metered)],
      ['status', [statusOf(record), record.error_code].filter(Boolean).join(', ')],
      ['route', record.cache === 'hit' ? 'none: from the cache' : record.route],
      ['failover', yesOrNo(record.has_failover)],
      ['first byte', took(record.first_byte_ms)],
      ['first token', took(record.first_content_ms)],
      ['total', took(record.duration_ms)],
      ...facts.map(({ label, text, full = text }) => [label.toLowerCase(), plain(full)] as const),
    ]),
    ...formatSection(paint('bold', 'attempts'), describeAttempts(record, took)),
  ];
}

type Took = (ms: number | null | undefined) => string | undefined;

/** Attempts, each with its position on one time axis. */
function describeAttempts({ attempts, duration_ms: total }: RequestRecord, took: Took): string[] {
  if (attempts === null || attempts.length === 0) return [];
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

function yesOrNo(value: boolean | null): string | undefined {
  return value === null ? undefined : value ? 'yes' : 'no';
}
