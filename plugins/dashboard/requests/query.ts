import { timeOfRequestId } from '#core/gateway/records/request-id.ts';
import { filterByStatus, type RequestFilter } from '#core/gateway/records/filter.ts';
import { type RangeName, startOfRange, timeRanges } from '../time-range.ts';

export const requestsPath = '/dashboard/requests';
/** The same of all accounts, for operators. */
export const operatorRequestsPath = '/operator/requests';

/** Filters that are one click each. */
export const chips = ['all', 'errors', 'failover', 'cached'] as const;
type Chip = (typeof chips)[number];

/** Statuses that the form offers; an address may name any other one, such as 502. */
export const statusChoices = ['2xx', '4xx', '429', '5xx', 'stopped'] as const;

/** Words of the form for what has another name elsewhere. */
const wordOf: Readonly<Record<string, string>> = { '2xx': 'answered', stopped: 'aborted' };

/** Characters of a model's name on record, and of an account's name or address. */
const longest = { model: 200, account: 320 };

/** The period of a list that names none. */
export const defaultRange = '24h';

/** Query of the page's address. */
export interface RequestsQuery {
  /** Of the list; a request is below it. */
  readonly path: typeof requestsPath | typeof operatorRequestsPath;
  /** On the list of all accounts, an id, e-mail address, name or key hint; '' for all. */
  readonly account: string;
  readonly show: Chip;
  readonly model: string; // '' for all
  readonly status: string; // one of the choices or a status; '' for any
  readonly time: RangeName;
  /** Shows requests older than this one; '' for the newest. */
  readonly before: string;
  /** False when the reader has paused live updates. */
  readonly isLive: boolean;
  /** The request that the reader looks for; '' for none. */
  readonly id: string;
  /** Invalid parameters with their values, which the page reports. */
  readonly ignored: readonly { readonly name: string; readonly value: string }[];
}

/** Reads the query of the page. Invalid parameters are ignored and listed; none is an error. */
export function readQuery(
  query: Readonly<Record<string, string>>,
  path: RequestsQuery['path'] = requestsPath,
): RequestsQuery {
  const ignored: { name: string; value: string }[] = [];
  const read = <T extends string>(name: string, otherwise: T, isValid: (value: string) => boolean): T => {
    const value = (query[name] ?? '').trim();
    if (value === '' || isValid(value)) return value === '' ? otherwise : (value as T);
    ignored.push({ name, value: value.length > 60 ? `${value.slice(0, 60)}…` : value });
    return otherwise;
  };
  return {
    path,
    account: path === requestsPath ? '' : read('account', '', (value) => value.length <= longest.account),
    show: read<Chip>('show', 'all', (value) => chips.some((chip) => chip === value)),
    model: read('model', '', (value) => value.length <= longest.model),
    status: read('status', '', isStatus),
    time: read<RangeName>('time', defaultRange, (value) => timeRanges.some((range) => range === value)),
    before: read('before', '', isRequestId),
    id: read('id', '', isRequestId),
    isLive: read('live', '1', (value) => value === '0' || value === '1') === '1',
    ignored,
  };
}

function isRequestId(value: string): boolean {
  return timeOfRequestId(value) !== undefined;
}

function isStatus(value: string): boolean {
  return statusChoices.some((choice) => choice === value) || /^[1-5]\d\d$/.test(value);
}

/** The records that the list shows. @param accountId undefined for those of all accounts */
export function filterOf(
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
    ...(status !== '' && filterByStatus(wordOf[status] ?? status)),
  };
}

/** True when the list is narrowed to less than a period. */
export function isNarrowed({ account, show, model, status }: RequestsQuery): boolean {
  return account !== '' || show !== 'all' || model !== '' || status !== '';
}

/** The address of the list as it is, with these changes; the beginning of the list unless they say otherwise. */
export function addressOf(
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
