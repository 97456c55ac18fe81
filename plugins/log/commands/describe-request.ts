import { fullName } from '#core/business/accounts/shown-names.ts';
import { readAccounts } from '#core/business/accounts/account-record.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { formatEntries, formatEntry } from '#core/extension/commands/field-text.ts';
import { formatSection, paint, toPlainSpaces } from '#core/extension/commands/table-text.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { findRequest } from '#core/gateway/records/read-requests.ts';
import { describeFacts, requestTexts } from '#core/web/requests/describe-facts.ts';
import { defineView } from '#core/web/resources/field.ts';
import { type Formatter, formatterFor } from '#core/web/texts/formatter.ts';
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
  const accounts = await readAccounts(database, 'id', record.account_id === null ? [] : [record.account_id]);
  const names = new Map(
    accounts.map(({ id: account, name, email }) => [account, `${account} ${fullName(name, email)}`]),
  );
  return { record, describe: (timeZone) => describeRequest(record, names, timeZone) };
}

const english = new Translator([requestTexts]).in('en');

/** Printed before the facts that pages show too. */
const own = defineView<RequestRecord>()({
  request: { type: 'id', of: 'id' },
  time: {
    type: 'text',
    print: ({ started_at: at }, { time, format }) =>
      `${time(new Date(at), true)}.${String(at % 1000).padStart(3, '0')} ${format.timeZone}`,
  },
  account: { type: 'person', value: ({ account_id: id }) => id ?? 'none' },
  endpoint: { type: 'text', value: ({ endpoint, method, path }) => `${endpoint} (${method} ${path})` },
  model: { type: 'text', of: 'model' },
  metered: { type: 'text', value: ({ is_metered: is }) => yesOrNo(is) },
  status: { type: 'text', value: (record) => [statusOf(record), record.error_code].filter(Boolean).join(', ') },
  route: { type: 'text', value: ({ cache, route }) => (cache === 'hit' ? 'none: from the cache' : route) },
  failover: { type: 'text', value: ({ has_failover: has }) => yesOrNo(has) },
  first_byte: { type: 'duration', of: 'first_byte_ms' },
  first_token: { type: 'duration', of: 'first_content_ms' },
  total: { type: 'duration', of: 'duration_ms' },
});

function describeRequest(record: RequestRecord, names: ReadonlyMap<string, string>, timeZone: string): string[] {
  const format = formatterFor('en', timeZone);
  const text = { timeZone, now: 0, names };
  const facts = describeFacts(record, { t: english, format }, { isForOperator: true, areRoutesNamed: true });
  const more = facts.map(({ label, text: short, full = short }) => [label.toLowerCase(), toPlainSpaces(full)] as const);
  const tried = record.attempts ?? [];
  const options = { numericColumns: [5, 6], maxLength: Infinity };
  return [
    ...formatEntry(record, own.text, text, more),
    ...formatSection(paint('bold', 'attempts'), formatEntries(tried, attemptsOf(record, format).text, text, options)),
  ];
}

type Attempt = NonNullable<RequestRecord['attempts']>[number];

/** Attempts, each with its position on one time axis. */
function attemptsOf({ attempts, duration_ms: total }: RequestRecord, format: Formatter) {
  const tried = attempts ?? [];
  const ends = tried.map(({ started_ms: start, duration_ms: length }) => (start ?? 0) + (length ?? 0));
  const end = Math.max(total ?? 0, ...ends, 1);
  return defineView<Attempt>()({
    number: { type: 'id', heading: '', value: (attempt) => String(tried.indexOf(attempt) + 1) },
    route: { type: 'text', of: 'route' },
    outcome: { type: 'state', kinds: { failed: 'bad' }, of: 'outcome' },
    status: { type: 'count', of: 'status' },
    fault: { type: 'text', of: 'fault' },
    started: { type: 'duration', of: 'started_ms' },
    took: { type: 'duration', of: 'duration_ms' },
    axis: {
      type: 'text',
      heading: `0 to ${toPlainSpaces(format.duration(end).text)}`.padEnd(axisLength),
      kind: ({ outcome }) => (outcome === 'failed' ? 'bad' : 'ok'),
      value: ({ started_ms: start, duration_ms: length }) => barOf(start ?? 0, length ?? 0, end),
    },
    error: { type: 'text', of: 'error' },
  });
}

function barOf(start: number, length: number, end: number): string {
  const from = Math.min(axisLength - 1, Math.floor((start / end) * axisLength));
  const to = Math.max(from + 1, Math.min(axisLength, Math.round(((start + length) / end) * axisLength)));
  return `${'·'.repeat(from)}${'█'.repeat(to - from)}${'·'.repeat(axisLength - to)}`;
}

function yesOrNo(value: boolean | null): string | undefined {
  return value === null ? undefined : value ? 'yes' : 'no';
}
