import { filterByStatus, type RequestFilter } from '#core/gateway/records/filter.ts';
import { parseRequestTime } from '#core/gateway/records/request-id.ts';
import { type RangeName, startOfRange, timeRanges } from '../time-range.ts';

export const requestsPath = '/dashboard/requests';
export const operatorRequestsPath = '/operator/requests';

export const chips = ['all', 'errors', 'failover', 'cached'] as const;
type Chip = (typeof chips)[number];

export const statusChoices = ['2xx', '4xx', '429', '5xx', 'stopped'] as const; // in the form; the URL may contain any other

const statusKeys: Readonly<Record<string, string>> = { '2xx': 'answered', stopped: 'aborted' }; // for choices that are not HTTP statuses

const maxLengths = { model: 200, account: 320 }; // characters; `account` is a name or an email address

export const defaultRange = '24h';

export interface RequestsQuery {
  readonly path: typeof requestsPath | typeof operatorRequestsPath; // path of the list; requests are below it
  readonly account: string; // in the list of all accounts: an id, email address, name or key hint; '' for all
  readonly show: Chip;
  readonly model: string; // '' for all
  readonly status: string; // one of the choices or a status; '' for any
  readonly time: RangeName;
  readonly before: string; // only requests older than this id; '' for the newest
  readonly isLive: boolean; // false if the reader paused live updates
  readonly id: string; // id of the request that the reader is looking for; '' for none
  readonly ignored: readonly { readonly name: string; readonly value: string }[]; // invalid parameters, which the page reports
}

export function parseQuery(
  query: Readonly<Record<string, string>>,
  path: RequestsQuery['path'] = requestsPath,
): RequestsQuery {
  const ignored: { name: string; value: string }[] = [];
  const readParameter = <T extends string>(name: string, fallback: T, isValid: (value: string) => boolean): T => {
    const value = (query[name] ?? '').trim();
    if (value === '') return fallback;
    if (isValid(value)) return value as T;
    ignored.push({ name, value: value.length > 60 ? `${value.slice(0, 60)}…` : value });
    return fallback;
  };
  return {
    path,
    account: path === requestsPath ? '' : readParameter('account', '', (value) => value.length <= maxLengths.account),
    show: readParameter<Chip>('show', 'all', (value) => chips.some((chip) => chip === value)),
    model: readParameter('model', '', (value) => value.length <= maxLengths.model),
    status: readParameter('status', '', isStatus),
    time: readParameter<RangeName>('time', defaultRange, (value) => timeRanges.some((range) => range === value)),
    before: readParameter('before', '', isRequestId),
    id: readParameter('id', '', isRequestId),
    isLive: readParameter('live', '1', (value) => value === '0' || value === '1') === '1',
    ignored,
  };
}

function isRequestId(value: string): boolean {
  return parseRequestTime(value) !== undefined;
}

function isStatus(value: string): boolean {
  return statusChoices.some((choice) => choice === value) || /^[1-5]\d\d$/.test(value);
}

/** @param accountId undefined for all accounts */
export function createFilter(
  { show, model, status, time }: RequestsQuery,
  accountId: string | undefined,
  now: number,
): RequestFilter {
  return {
    accountId,
    since: startOfRange(time, now),
    ...(model !== '' && { model }),
    ...(show === 'errors' && { errors: true }),
    ...(show === 'failover' && { hasFailover: true }),
    ...(show === 'cached' && { isCached: true }),
    ...(status !== '' && filterByStatus(statusKeys[status] ?? status)),
  };
}

/** Returns true if the list is filtered by more than a period. */
export function hasFilters({ account, show, model, status }: RequestsQuery): boolean {
  return account !== '' || show !== 'all' || model !== '' || status !== '';
}

/** Starts with the newest requests unless `changes` includes a position. */
export function buildRequestsPath(
  query: RequestsQuery,
  changes: Partial<RequestsQuery> = {},
  path: string = query.path,
): string {
  const { account, show, model, status, time, before, isLive } = { ...query, before: '', ...changes };
  const parameters = new URLSearchParams();
  if (account !== '') parameters.set('account', account);
  if (show !== 'all') parameters.set('show', show);
  if (model !== '') parameters.set('model', model);
  if (status !== '') parameters.set('status', status);
  if (time !== defaultRange) parameters.set('time', time);
  if (before !== '') parameters.set('before', before);
  if (!isLive) parameters.set('live', '0');
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
