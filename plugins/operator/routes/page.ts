import type { Registry } from '#core/extension/registry.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { readSources } from '../sources.ts';
import { canReset, countRoutes, describeRoutes } from './route-rows.ts';
import { readRouteStatus } from '#core/gateway/model-call/route-status.ts';
import { routeIdsOf } from '#core/gateway/model-call/route-reset.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { readMarginsBeside } from '#core/business/margins/margin-readings.ts';
import { costsByRoute } from '#core/business/margins/margins.ts';
import { actionPage, describeDone } from '../action-page.ts';
import { formatExact } from '../margins/beside-use.ts';

/** Routes on the page, those of models with trouble first; `daypass routes` lists all. */
const listedRoutes = 300;
/** Seconds between two updates of cooldowns. */
const interval = 5;

/** `/operator/routes`: routes with their breakers, and the way to reset one. */
export function routesPage(gateway: Pick<Registry, 'statusReports'>): Page {
  const values = async (request: PageRequest) => {
    const { host, t, format } = request;
    const [sources, margins] = await Promise.all([readSources(gateway, host), readMarginsBeside(host, '30d')]);
    const costs = margins && costsByRoute(margins);
    const costOf = (model: string, route: string) =>
      costs === undefined ? '' : formatExact(costs.get(`${model} ${route}`) ?? 0n, request);
    const routes = describeRoutes(host, sources, request, listedRoutes, false, costOf);
    const all = countRoutes(host);
    return {
      routes,
      listed: routes.length < all ? t('operator.routes_listed', { shown: routes.length, count: all }) : '',
      routesSince: t('operator.requests_since', { time: format.shortTime(new Date(sources.recent.since)).text }),
      done: describeDone(request),
      hasCosts: margins !== undefined,
      canReset: true,
      asOf: format.clock(new Date(host.now())),
    };
  };
  return {
    path: '/operator/routes',
    role: 'operator',
    title: 'operator.routes',
    navigation: { label: 'operator.routes', icon: 'routes', order: 40, covers: ['/operator/probes'] },
    template: 'operator/routes.eta',
    styles: ['operator.css', 'tables.css'],
    show: values,
    live: {
      topics: ['requests', 'health'],
      everySeconds: interval,
      parts: { 'operator-routes': 'operator/routes-table.eta' },
      values,
    },
  };
}

/** `/operator/routes/reset?route=…`: closes the breaker of a route, and ends the cooldowns of its keys. */
export const resetPage = (gateway: Pick<Registry, 'statusReports'>): Page =>
  actionPage({
    path: '/operator/routes/reset',
    title: 'operator.reset_title',
    action: 'route.reset',
    ask(request) {
      const { t, query, form, host } = request;
      const route = requireRoute(request, query['route'] ?? form.values['route'] ?? '');
      if (!canReset(readRouteStatus(gateway, host).get(route)))
        throw new PageError(409, 'operator.nothing_to_reset', { action: routesAction });
      return {
        question: t('operator.reset_question', { route }),
        text: t('operator.reset_text'),
        facts: [],
        label: t('operator.reset'),
        isDanger: false,
        back: '/operator/routes',
        note: undefined,
        route,
      };
    },
    subject: (request, { route }) => requireRoute(request, route),
    next: () => '/operator/routes',
  });

const routesAction = { path: '/operator/routes', label: 'operator.routes' } as const;

function requireRoute({ host }: PageRequest, route: string): string {
  if (routeIdsOf(host).includes(route)) return route;
  throw new PageError(404, 'operator.route_unknown', { action: routesAction });
}
