import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { type LatencyBar, latencyBar } from '#core/web/pages/geometry.ts';
import type { Localizer } from '#core/web/pages/page.ts';
import type { FormattedTime } from '#core/web/texts/formatter.ts';
import type { RouteNames } from '../route-names.ts';
import { describeStatus, type StatusView } from './describe-status.ts';
import { requestsPath } from './query.ts';

interface RequestRow {
  readonly id: string;
  readonly path: string;
  readonly time: FormattedTime;
  readonly name: string; // the model, or the path of a request that is not a model call
  readonly isModelCall: boolean;
  readonly account: AccountLabel | undefined; // in the list of all accounts
  readonly route: string;
  readonly attempts: string; // "2 attempts"; '' for a single attempt
  readonly status: StatusView;
  readonly input: string;
  readonly output: string;
  readonly firstToken: string;
  readonly total: string;
  readonly bar: LatencyBar | undefined; // relative to the slowest request on the page; undefined while the end is unknown
}

export interface AccountLabel {
  readonly text: string; // email address or name; '' for a request without a valid key
  readonly path: string;
}

type AccountNames = ReadonlyMap<string, string>; // names or email addresses by account id

/** A day in the reader's time zone. */
export interface RequestDay {
  readonly name: string; // '' for today
  readonly rows: readonly RequestRow[];
}

const noValue = '—';

export function countColumns({ areShown }: RouteNames): number {
  return areShown ? 9 : 8;
}

export function describeRows(
  records: readonly RequestRecord[],
  reader: Localizer,
  routes: RouteNames,
  now: number,
  { path = requestsPath, accounts }: { readonly path?: string; readonly accounts?: AccountNames | undefined } = {},
): RequestDay[] {
  const { format } = reader;
  const maxDurationMs = Math.max(0, ...records.map(({ duration_ms: duration }) => duration ?? 0));
  const formatDay = (time: number) => format.day(new Date(time)).text;
  const days = Map.groupBy(records, ({ started_at: startedAt }) => formatDay(startedAt));
  return [...days].map(([day, dayRecords]) => ({
    name: day === formatDay(now) ? '' : format.shortDay(new Date(dayRecords[0]?.started_at ?? now)).text,
    rows: dayRecords.map((record) => ({
      ...describeRow(record, reader, routes, maxDurationMs),
      path: `${path}/${record.id}`,
      account: accounts && labelAccount(record, accounts),
    })),
  }));
}

export function labelAccount({ account_id: id }: RequestRecord, accounts: AccountNames): AccountLabel {
  return id === null ? { text: '', path: '' } : { text: accounts.get(id) ?? id, path: `/operator/accounts/${id}` };
}

/** @param maxDurationMs duration of the slowest request on the page */
export function describeRow(
  record: RequestRecord,
  { t, format }: Localizer,
  routes: RouteNames,
  maxDurationMs: number,
): Omit<RequestRow, 'path' | 'account'> {
  const status = describeStatus(record, t);
  const first = firstTokenOf(record);
  const { duration_ms: total } = record;
  const attemptCount = record.attempts?.length ?? 0;
  const count = (tokens: number | null) => (tokens === null ? noValue : format.number(tokens));
  return {
    id: record.id,
    time: format.clock(new Date(record.started_at)),
    name: describeName(record),
    isModelCall: record.model !== null || record.error_code === 'model_not_found',
    route: describeRoute(record, t, routes),
    attempts: attemptCount > 1 ? t('requests.attempts', { count: attemptCount }) : '',
    status,
    input: count(record.input_tokens),
    output: count(record.output_tokens),
    firstToken: first === undefined ? noValue : format.duration(first).text,
    total: total === null ? noValue : format.duration(total).text,
    bar: total === null ? undefined : latencyBar(first, total, maxDurationMs, status.tone === 'bad'),
  };
}

function describeName({ model, path, error_code: code, error_message: message }: RequestRecord): string {
  const requestedName =
    code === 'model_not_found' ? /^Model "(.+?)" (?:not found|is out of service)/.exec(message ?? '')?.[1] : undefined;
  return model ?? requestedName ?? path;
}

/**
 * Returns ms, or undefined for a response that was not streamed. The gateway does not parse cached responses, so theirs is the time to the
 * first byte.
 */
export function firstTokenOf(record: RequestRecord): number | undefined {
  if (record.is_stream === false) return undefined;
  if (record.first_content_ms !== null) return record.first_content_ms;
  return (record.cache === 'hit' ? record.first_byte_ms : null) ?? undefined;
}

function describeRoute(
  { route, attempts, cache, model }: RequestRecord,
  t: Localizer['t'],
  routes: RouteNames,
): string {
  if (cache === 'hit') return t('requests.route.cache');
  const last = route ?? attempts?.at(-1)?.route ?? undefined;
  return last === undefined ? noValue : routes.label(last, model);
}
