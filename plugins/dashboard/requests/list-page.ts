import { accountOf, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { countRequests, type RequestCount } from '#core/gateway/records/count-requests.ts';
import { listUsedModels } from '#core/gateway/records/usage.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import { describeControls } from './describe-controls.ts';
import { columnsOf, describeRows } from './describe-row.ts';
import { addressOf, filterOf, isNarrowed, readQuery, requestsPath, type RequestsQuery } from './query.ts';
import { connectPath } from '../paths.ts';
import { routeNamesFor } from '../route-names.ts';
import { startOfRange } from '../time-range.ts';

/** Requests on a page: what a laptop shows without much scrolling, and what is read again for each live update. */
const pageSize = 25;

/** Every request of the account, newest first. */
export const listPage: Page = {
  path: requestsPath,
  role: 'account',
  title: 'requests.title',
  navigation: { label: 'requests.title', icon: 'list', order: 20 },
  template: viewPath('dashboard/requests/list-page.eta'),
  styles: ['requests.css'],
  scripts: ['htmx.js', 'requests.js'],
  async show(request) {
    const query = readQuery(request.query);
    if (query.id !== '') return new Redirect(`${requestsPath}/${query.id}`);
    const [models, list] = await Promise.all([usedModels(request), describeList(query, request)]);
    return { ...describeControls(query, request, models), ...list };
  },
  live: {
    topics: ['requests'],
    parts: { list: viewPath('dashboard/requests/list.eta') },
    values: (request) => describeList(readQuery(request.query), request),
  },
};

/** The part that changes by itself. */
async function describeList(query: RequestsQuery, request: PageRequest) {
  const { host, format, t } = request;
  const { id } = accountOf(request);
  const now = host.now();
  const filter = filterOf(query, id, now);
  const [page, counted] = await Promise.all([
    listRequests(host.database, filter, { limit: pageSize, before: query.before || undefined }),
    countRequests(host.database, filter),
  ]);
  const routes = routeNamesFor(request);
  const why = page.records.length > 0 ? undefined : await whyEmpty(query, request);
  return {
    isLive: query.isLive && query.before === '',
    asOf: t('requests.as_of', { time: format.clock(new Date(now)).text }),
    days: describeRows(page.records, request, routes, now),
    hasRoutes: routes.areShown,
    columns: columnsOf(routes),
    empty: why === undefined ? undefined : describeEmpty(why, query, t),
    hasRequests: why !== 'none',
    count: describeCount(counted, filter.since, request),
    zone: t('requests.zone', { zone: format.timeZone.replaceAll('_', ' ') }),
    newest: addressOf(query),
    older: page.next === undefined ? '' : addressOf(query, { before: page.next }),
  };
}

function describeEmpty(why: Awaited<ReturnType<typeof whyEmpty>>, query: RequestsQuery, t: PageRequest['t']) {
  const paths = {
    none: connectPath,
    period: addressOf(query, { time: 'all' }),
    unmatched: addressOf(query, { show: 'all', model: '', status: '' }),
    end: addressOf(query),
  };
  return {
    title: t(`requests.empty.${why}`),
    text: t(`requests.empty.text.${why}`),
    action: { path: paths[why], label: t(`requests.empty.action.${why}`) },
  };
}

/** Nothing at all, nothing in this period, nothing that matches, or nothing older. */
async function whyEmpty(query: RequestsQuery, request: PageRequest): Promise<'none' | 'period' | 'unmatched' | 'end'> {
  if (query.before !== '') return 'end';
  const { records } = await listRequests(request.host.database, { accountId: accountOf(request).id }, { limit: 1 });
  if (records.length === 0) return 'none';
  return isNarrowed(query) ? 'unmatched' : 'period';
}

/** Periods begin with an hour, so that the count says since when. */
function describeCount(counted: RequestCount, since: number | undefined, request: PageRequest): string {
  const { t, format } = request;
  const values = { count: counted.count, requests: numberOf(counted, request) };
  if (since === undefined) return t('requests.count.all', values);
  return t('requests.count.since', { ...values, since: format.dayTime(new Date(since)).text });
}

function numberOf({ count, isCapped }: RequestCount, { format, t }: PageRequest): string {
  return isCapped ? t('requests.count.more', { count: format.number(count) }) : format.number(count);
}

/** The models that the form offers: those of the catalog, and others that the account has used in the last 30 days. */
async function usedModels({ host, account }: PageRequest): Promise<string[]> {
  const since = startOfRange('30d', host.now()) ?? 0;
  const used = await listUsedModels(host.database, { accountId: account?.id, since });
  return [...new Set([...host.catalog.models.map(({ publicName }) => publicName), ...used])];
}
