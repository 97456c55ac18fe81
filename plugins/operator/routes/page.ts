import type { Registry } from '#core/extension/registry.ts';
import type { Page } from '#core/web/pages/page.ts';
import { readSources } from '../sources.ts';
import { readNotes } from '#core/web/pages/plugin-notes.ts';
import { canReset, countRoutes, describeRoutes } from './route-rows.ts';
import { readRouteStatus } from '#core/gateway/model-call/route-status.ts';
import { routeIdsOf } from '#core/gateway/model-call/route-reset.ts';
import { notFound, PageError } from '#core/web/pages/page-error.ts';
import { coreAction } from '#core/business/operator-actions/actions.ts';
import { plainPage } from '#core/web/actions/plain-page.ts';

/** Maximum routes on the page, those of models in trouble first; `daypass routes` lists all. */
const listedRoutes = 300;
/** Update interval of cooldowns in seconds. */
const interval = 5;

/** `/operator/routes`: routes with their breakers, and links to reset them. */
export const routesPage = (gateway: Pick<Registry, 'statusReports' | 'costsReader' | 'routeNoteSources'>): Page => ({
  path: '/operator/routes',
  role: 'operator',
  title: 'operator.routes',
  navigation: { label: 'operator.routes', icon: 'routes', order: 40, covers: ['/operator/probes'] },
  template: 'operator/routes.eta',
  async show(request) {
    const { host, t, format } = request;
    const [sources, costs, notes] = await Promise.all([
      readSources(gateway, host),
      gateway.costsReader?.beside(request, '30d'),
      readNotes(gateway.routeNoteSources, request),
    ]);
    const costOf = (model: string, route: string) => costs?.ofRoute(model, route) ?? '';
    const routes = describeRoutes(host, sources, request, listedRoutes, false, costOf).map((row) => ({
      ...row,
      notes: notes.get(row.route) ?? [],
    }));
    const all = countRoutes(host);
    return {
      routes,
      listed: routes.length < all ? t('operator.routes_listed', { shown: routes.length, count: all }) : '',
      routesSince: t('operator.requests_since', { time: format.shortTime(new Date(sources.recent.since)).text }),
      hasCosts: costs !== undefined,
      canReset: true,
      asOf: format.clock(new Date(host.now())),
    };
  },
  live: {
    topics: ['requests', 'health'],
    everySeconds: interval,
    parts: { 'operator-routes': 'operator/routes-table.eta' },
  },
});

/** `/operator/routes/reset?route=…`: closes the breaker of a route, and ends the cooldowns of its keys. */
export const resetPage = (gateway: Pick<Registry, 'statusReports'>): Page =>
  plainPage(
    coreAction('route.reset'),
    {
      path: '/operator/routes',
      find({ host }, { route = '' }) {
        const action = { path: '/operator/routes', label: 'operator.routes' };
        if (!routeIdsOf(host).includes(route)) notFound('operator.route_unknown', action);
        if (!canReset(readRouteStatus(gateway, host).get(route)))
          throw new PageError(409, 'operator.nothing_to_reset', { action });
        return { id: route, name: route, path: action.path };
      },
    },
    { title: 'operator.reset_title', sent: ['route'] },
  );
