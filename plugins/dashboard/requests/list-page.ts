import { AccountError } from '#core/business/accounts/account-error.ts';
import { findAccountByHandle } from '#core/business/accounts/account-list.ts';
import { type Host, cacheReading } from '#core/gateway/host/host.ts';
import type { RequestCount } from '#core/gateway/records/count-requests.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { listAndCount } from '#core/gateway/records/list-and-count.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import { listUsedModels } from '#core/gateway/records/usage.ts';
import { readAccountNames } from '#core/web/pages/account-name.ts';
import { accountOf, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { connectPath } from '../paths.ts';
import { createRouteNames } from '../route-names.ts';
import { startOfRange } from '../time-range.ts';
import { describeControls } from './describe-controls.ts';
import { countColumns, describeRows } from './describe-row.ts';
import {
  buildRequestsPath,
  createFilter,
  hasFilters,
  operatorRequestsPath,
  parseQuery,
  requestsPath,
  type RequestsQuery,
} from './query.ts';

const pageSize = 25; // fits on a laptop's screen; each live update reads the page again

export const listPage = createListPage(requestsPath, {
  role: 'account',
  navigation: { label: 'requests.title', icon: 'list', order: 20 },
});

export const operatorListPage = createListPage(operatorRequestsPath, {
  role: 'operator',
  navigation: { label: 'requests.title', icon: 'list', order: 35 },
});

function createListPage(path: RequestsQuery['path'], options: Pick<Page, 'role' | 'navigation'>): Page {
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
      const query = parseQuery(request.query, path);
      if (query.id !== '') return new Redirect(`${path}/${query.id}`);
      const [models, list] = await Promise.all([listFormModels(query, request), describeList(query, request)]);
      return { ...describeControls(query, request, models), ...list };
    },
    live: {
      topics: ['requests'],
      parts: { list: 'dashboard/requests/list.eta' },
      values: (request) => describeList(parseQuery(request.query, path), request),
    },
  };
}

async function describeList(query: RequestsQuery, request: PageRequest) {
  const { host, format, t } = request;
  const now = host.now();
  const filter = createFilter(query, await findListedAccount(query, request), now);
  const records = canReadReplica(query) ? host.database.records : host.database;
  const [page, requestCount] = await listAndCount(records, filter, {
    limit: pageSize,
    before: query.before || undefined,
  });
  const routes = createRouteNames(request);
  const ids = page.records.map(({ account_id: id }) => id);
  const accounts = query.path === operatorRequestsPath ? await readAccountNames(host.database, ids, t) : undefined;
  const emptyReason = page.records.length > 0 ? undefined : await findEmptyReason(query, filter, request);
  return {
    isLive: query.isLive && query.before === '',
    asOf: t('requests.as_of', { time: format.clock(new Date(now)).text }),
    days: describeRows(page.records, request, routes, now, { path: query.path, accounts }),
    hasAccounts: accounts !== undefined,
    hasRoutes: routes.areShown,
    columns: countColumns(routes),
    empty: emptyReason === undefined ? undefined : describeEmpty(emptyReason, query, t),
    hasRequests: emptyReason !== 'none',
    count: describeCount(requestCount, filter.since, request),
    newest: buildRequestsPath(query),
    older: page.next === undefined ? '' : buildRequestsPath(query, { before: page.next }),
  };
}

function canReadReplica(query: RequestsQuery): boolean {
  // Older pages and operators' searches read many records, and may miss the latest.
  return query.before !== '' || (query.path === operatorRequestsPath && hasFilters(query));
}

const noAccountId = 'unknown'; // not an id, so PostgreSQL does not read a single row

async function findListedAccount({ path, account }: RequestsQuery, request: PageRequest): Promise<string | undefined> {
  if (path === requestsPath) return accountOf(request).id;
  if (account === '') return undefined;
  try {
    return (await findAccountByHandle(request.host, account)).id;
  } catch (error) {
    if (error instanceof AccountError) return noAccountId;
    throw error;
  }
}

function describeEmpty(
  emptyReason: Awaited<ReturnType<typeof findEmptyReason>>,
  query: RequestsQuery,
  t: PageRequest['t'],
) {
  const paths = {
    none: connectPath,
    period: buildRequestsPath(query, { time: 'all' }),
    unmatched: buildRequestsPath(query, { account: '', show: 'all', model: '', status: '' }),
    end: buildRequestsPath(query),
  };
  // The text must not suggest sending a request, because the list has customers' requests.
  if (emptyReason === 'none' && query.path === operatorRequestsPath)
    return { title: t('requests.empty.none'), text: t('requests.empty.text.none_of_all') };
  return {
    title: t(`requests.empty.${emptyReason}`),
    text: t(`requests.empty.text.${emptyReason}`),
    action: { path: paths[emptyReason], label: t(`requests.empty.action.${emptyReason}`) },
  };
}

async function findEmptyReason(
  query: RequestsQuery,
  { accountId }: RequestFilter,
  request: PageRequest,
): Promise<'none' | 'period' | 'unmatched' | 'end'> {
  if (query.before !== '') return 'end';
  const { records } = await listRequests(request.host.database, { accountId }, { limit: 1 });
  if (records.length === 0) return query.account === '' ? 'none' : 'unmatched';
  return hasFilters(query) ? 'unmatched' : 'period';
}

function describeCount(requestCount: RequestCount, since: number | undefined, request: PageRequest): string {
  const { t, format } = request;
  const values = { count: requestCount.count, requests: formatCount(requestCount, request) };
  if (since === undefined) return t('requests.count.all', values);
  // Periods start on the hour.
  return t('requests.count.since', { ...values, since: format.dayTime(new Date(since)).text });
}

function formatCount({ count, isCapped }: RequestCount, { format, t }: PageRequest): string {
  return isCapped ? t('requests.count.more', { count: format.number(count) }) : format.number(count);
}

async function listFormModels({ path }: RequestsQuery, { host, account }: PageRequest): Promise<string[]> {
  const recordedModels =
    path === requestsPath ? await readUsedModels(host, account?.id) : await modelsOfAllAccounts(host).get();
  return [...new Set([...host.catalog.models.map(({ publicName }) => publicName), ...recordedModels])];
}

function readUsedModels({ database, now }: Host, accountId?: string): Promise<string[]> {
  return listUsedModels(database.records, { accountId, since: startOfRange('30d', now()) ?? 0 });
}

const modelsOfAllAccounts = cacheReading(
  // A stale list only lacks some models that are no longer in the catalog.
  { maxAgeMs: 60_000, staleWhileReadMs: 600_000, timeoutMs: 5_000 },
  readUsedModels,
);
