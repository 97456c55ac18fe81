import { nameWithAddress } from '#core/business/accounts/account-names.ts';
import { readAccounts } from '#core/business/accounts/account-record.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { formatEntries, formatEntry } from '#core/extension/commands/field-text.ts';
import { formatSection, paint, toPlainSpaces } from '#core/extension/commands/table-text.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { findRequest } from '#core/gateway/records/read-requests.ts';
import { describeRequestFacts, requestTexts } from '#core/web/requests/describe-facts.ts';
import { defineView } from '#core/web/resources/field.ts';
import { type Formatter, getFormatter } from '#core/web/texts/formatter.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { formatStatus } from './requests.ts';

const axisWidth = 32; // characters

export interface DescribedRequest {
  readonly record: RequestRecord;
  describe(timeZone: string): string[];
}

/** @throws CheckoutError `not_found` */
export async function readRequest({ database }: Pick<Host, 'database'>, id: string): Promise<DescribedRequest> {
  const record = await findRequest(database, id);
  if (record === undefined)
    throw new CheckoutError(
      'not_found',
      `Request ${id} not found. Requests are recorded about a second after they end, and kept for log.keep_days days.`,
    );
  const accounts = await readAccounts(database, 'id', record.account_id === null ? [] : [record.account_id]);
  const names = new Map(
    accounts.map(({ id: account, name, email }) => [account, `${account} ${nameWithAddress(name, email)}`]),
  );
  return { record, describe: (timeZone) => describeRequest(record, names, timeZone) };
}

const english = new Translator([requestTexts]).in('en');

const requestFields = defineView<RequestRecord>()({
  request: { type: 'id', of: 'id' },
  time: {
    type: 'text',
    print: ({ started_at: startedAt }, { time, format }) =>
      `${time(new Date(startedAt), true)}.${String(startedAt % 1000).padStart(3, '0')} ${format.timeZone}`,
  },
  account: { type: 'person', value: ({ account_id: id }) => id ?? 'none' },
  endpoint: { type: 'text', value: ({ endpoint, method, path }) => `${endpoint} (${method} ${path})` },
  model: { type: 'text', of: 'model' },
  metered: { type: 'text', value: (record) => formatYesOrNo(record.is_metered) },
  status: { type: 'text', value: (record) => [formatStatus(record), record.error_code].filter(Boolean).join(', ') },
  route: { type: 'text', value: ({ cache, route }) => (cache === 'hit' ? 'none: from the cache' : route) },
  failover: { type: 'text', value: (record) => formatYesOrNo(record.has_failover) },
  first_byte: { type: 'duration', of: 'first_byte_ms' },
  first_token: { type: 'duration', of: 'first_content_ms' },
  total: { type: 'duration', of: 'duration_ms' },
});

function describeRequest(record: RequestRecord, names: ReadonlyMap<string, string>, timeZone: string): string[] {
  const format = getFormatter('en', timeZone);
  const text = { timeZone, now: 0, names };
  const facts = describeRequestFacts(record, { t: english, format }, { isForOperator: true, areRoutesNamed: true });
  const factEntries = facts.map(
    ({ label, text: short, full = short }) => [label.toLowerCase(), toPlainSpaces(full)] as const,
  );
  const attempts = record.attempts ?? [];
  const options = { numericColumns: [5, 6], maxLength: Infinity };
  const attemptLines = formatEntries(attempts, createAttemptView(record, format).text, text, options);
  return [
    ...formatEntry(record, requestFields.text, text, factEntries),
    ...formatSection(paint('bold', 'attempts'), attemptLines),
  ];
}

type Attempt = NonNullable<RequestRecord['attempts']>[number];

function createAttemptView({ attempts, duration_ms: total }: RequestRecord, format: Formatter) {
  const attemptList = attempts ?? [];
  const ends = attemptList.map(({ started_ms: start, duration_ms: length }) => (start ?? 0) + (length ?? 0));
  const end = Math.max(total ?? 0, ...ends, 1);
  return defineView<Attempt>()({
    number: { type: 'id', heading: '', value: (attempt) => String(attemptList.indexOf(attempt) + 1) },
    route: { type: 'text', of: 'route' },
    outcome: { type: 'state', kinds: { failed: 'bad' }, of: 'outcome' },
    status: { type: 'count', of: 'status' },
    fault: { type: 'text', of: 'fault' },
    started: { type: 'duration', of: 'started_ms' },
    took: { type: 'duration', of: 'duration_ms' },
    axis: {
      type: 'text',
      heading: `0 to ${toPlainSpaces(format.duration(end).text)}`.padEnd(axisWidth),
      kind: ({ outcome }) => (outcome === 'failed' ? 'bad' : 'ok'),
      value: ({ started_ms: start, duration_ms: length }) => renderBar(start ?? 0, length ?? 0, end),
    },
    error: { type: 'text', of: 'error' },
  });
}

function renderBar(start: number, length: number, end: number): string {
  const barStart = Math.min(axisWidth - 1, Math.floor((start / end) * axisWidth));
  const barEnd = Math.max(barStart + 1, Math.min(axisWidth, Math.round(((start + length) / end) * axisWidth)));
  return `${'·'.repeat(barStart)}${'█'.repeat(barEnd - barStart)}${'·'.repeat(axisWidth - barEnd)}`;
}

function formatYesOrNo(value: boolean | null): string | undefined {
  if (value === null) return undefined;
  return value ? 'yes' : 'no';
}
