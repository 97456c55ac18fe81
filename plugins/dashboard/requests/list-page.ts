import { accountOf, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { findAccountByHandle } from '#core/business/accounts/account-list.ts';
import { readAccountNames } from '#core/web/pages/account-name.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import type { RequestCount } from '#core/gateway/records/count-requests.ts';
import { listAndCount } from '#core/gateway/records/list-and-count.ts';
import { type Host, cacheReading } from '#core/gateway/host/host.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import { listUsedModels } from '#core/gateway/records/usage.ts';
import { describeControls } from './describe-controls.ts';
import { columnsOf, describeRows } from './describe-row.ts';
import {
  addressOf,
  filterOf,
  isNarrowed,
  operatorRequestsPath,
  readQuery,
  requestsPath,
  type RequestsQuery,
} from './query.ts';
import { connectPath } from '../paths.ts';
import { routeNamesFor } from '../route-names.ts';
import { startOfRange } from '../time-range.ts';

/** Requests per page: they fit on a laptop without much scrolling and are reread for each live update. */
const pageSize = 25;

/** The account's requests, newest first. */
export const listPage = pageOfRequests(requestsPath, {
  role: 'account',
  navigation: { label: 'requests.title', icon: 'list', order: 20 },
});

/** Requests of all accounts, for operators. */
export const operatorListPage = pageOfRequests(operatorRequestsPath, {
  role: 'operator',
  navigation: { label: 'requests.title', icon: 'list', order: 35 },
});

function pageOfRequests(path: RequestsQuery['path'], options: Pick<Page, 'role' | 'navigation'>): Page {
  return {
    ...options,
    path,
    title: 'requests.title',
    template: 'dashboard/requests/list-page.eta',
    styles:
      path === operatorRequestsPath
        ? ['dashboard/requests/requests.css', 'dashboard/requests/all-requests.css']
        : ['dashboard/requests/requests.css'],
    scripts: ['htmx.js', 'dashboard/requests/requests.js'],
    async show(request) {
      const query = readQuery(request.query, path);
      if (query.id !== '') return new Redirect(`${path}/${query.id}`);
      const [models, list] = await Promise.all([usedModels(query, request), describeList(query, request)]);
      return { ...describeControls(query, request, models), ...list };
    },
    live: {
      topics: ['requests'],
      parts: { list: 'dashboard/requests/list.eta' },
      values: (request) => describeList(readQuery(request.query, path), request),
    },
  };
}

/** The live part of the page. */
async function describeList(query: RequestsQuery, request: PageRequest) {
  const { host, format, t } = request;
  const now = host.now();
  const filter = filterOf(query, await whoseRequests(query, request), now);
  const records = mayBeLate(query) ? host.database.records : host.database;
  const [page, counted] = await listAndCount(records, filter, { limit: pageSize, before: query.before || undefined });
  const routes = routeNamesFor(request);
  const ids = page.records.map(({ account_id: id }) => id);
  const accounts = query.path === operatorRequestsPath ? await readAccountNames(host.database, ids, t) : undefined;
  const why = page.records.length > 0 ? undefined : await whyEmpty(query, filter, request);
  return {
    isLive: query.isLive && query.before === '',
    asOf: t('requests.as_of', { time: format.clock(new Date(now)).text }),
    days: describeRows(page.records, request, routes, now, { path: query.path, accounts }),
    hasAccounts: accounts !== undefined,
    hasRoutes: routes.areShown,
    columns: columnsOf(routes),
    empty: why === undefined ? undefined : describeEmpty(why, query, t),
    hasRequests: why !== 'none',
    count: describeCount(counted, filter.since, request),
    newest: addressOf(query),
    older: page.next === undefined ? '' : addressOf(query, { before: page.next }),
  };
}

/** Operators' searches and older pages read many records and may miss the latest ones. Customers see their own requests at once. */
function mayBeLate(query: RequestsQuery): boolean {
  return query.before !== '' || (query.path === operatorRequestsPath && isNarrowed(query));
}

/** Id of the account whose requests are listed; undefined for all accounts. Unknown accounts have no requests. */
async function whoseRequests({ path, account }: RequestsQuery, request: PageRequest): Promise<string | undefined> {
  if (path === requestsPath) return accountOf(request).id;
  if (account === '') return undefined;
  try {
    return (await findAccountByHandle(request.host, account)).id;
  } catch (error) {
    if (error instanceof AccountError) return unknownAccount;
    throw error;
  }
}

/** Not an id, so that PostgreSQL looks at no record. */
const unknownAccount = 'unknown';

function describeEmpty(why: Awaited<ReturnType<typeof whyEmpty>>, query: RequestsQuery, t: PageRequest['t']) {
  const paths = {
    none: connectPath,
    period: addressOf(query, { time: 'all' }),
    unmatched: addressOf(query, { account: '', show: 'all', model: '', status: '' }),
    end: addressOf(query),
  };
  // The text must not suggest sending a request: the list shows customers' requests.
  if (why === 'none' && query.path === operatorRequestsPath)
    return { title: t('requests.empty.none'), text: t('requests.empty.text.none_of_all') };
  return {
    title: t(`requests.empty.${why}`),
    text: t(`requests.empty.text.${why}`),
    action: { path: paths[why], label: t(`requests.empty.action.${why}`) },
  };
}

/** Reason for an empty list: no requests at all, none in this period, no matches, or none older. */
async function whyEmpty(
  query: RequestsQuery,
  { accountId }: RequestFilter,
  request: PageRequest,
): Promise<'none' | 'period' | 'unmatched' | 'end'> {
  if (query.before !== '') return 'end';
  const { records } = await listRequests(request.host.database, { accountId }, { limit: 1 });
  if (records.length === 0) return query.account === '' ? 'none' : 'unmatched';
  return isNarrowed(query) ? 'unmatched' : 'period';
}

/** The count includes its start, because periods begin on the hour. */
function describeCount(counted: RequestCount, since: number | undefined, request: PageRequest): string {
  const { t, format } = request;
  const values = { count: counted.count, requests: numberOf(counted, request) };
  if (since === undefined) return t('requests.count.all', values);
  return t('requests.count.since', { ...values, since: format.dayTime(new Date(since)).text });
}

function numberOf({ count, isCapped }: RequestCount, { format, t }: PageRequest): string {
  return isCapped ? t('requests.count.more', { count: format.number(count) }) : format.number(count);
}

/** Models for the form: the catalog's, and others used in the last 30 days. */
async function usedModels({ path }: RequestsQuery, { host, account }: PageRequest): Promise<string[]> {
  const used = path === requestsPath ? await readUsedModels(host, account?.id) : await modelsOfAll(host).get();
  return [...new Set([...host.catalog.models.map(({ publicName }) => publicName), ...used])];
}

function readUsedModels({ database, now }: Host, accountId?: string): Promise<string[]> {
  return listUsedModels(database.records, { accountId, since: startOfRange('30d', now()) ?? 0 });
}

/** Only former models become known late. */
const modelsOfAll = cacheReading({ maxAgeMs: 60_000, staleWhileReadMs: 600_000, timeoutMs: 5_000 }, readUsedModels);
