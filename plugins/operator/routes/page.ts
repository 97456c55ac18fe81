import type { Registry } from '#core/extension/registry.ts';
import { listLinksWithin } from '#core/web/pages/list-navigation.ts';
import type { Page } from '#core/web/pages/page.ts';
import { readNotes } from '#core/web/pages/plugin-notes.ts';
import { readOverviewSources } from '../sources.ts';
import { countRoutes, describeRoutes } from './route-rows.ts';

const maxRoutes = 300;
const refreshSeconds = 5;

export const createRoutesPage = (
  gateway: Pick<Registry, 'statusReports' | 'costsReader' | 'routeNoteSources' | 'pages'>,
): Page => ({
  path: '/operator/routes',
  role: 'operator',
  title: 'operator.routes',
  navigation: { label: 'operator.routes', icon: 'routes', order: 40 },
  template: 'operator/routes.eta',
  async show(request) {
    const { host, t, format } = request;
    const [sources, costs, notes] = await Promise.all([
      readOverviewSources(gateway, host),
      gateway.costsReader?.pageCosts(request, '30d'),
      readNotes(gateway.routeNoteSources, request),
    ]);
    const costOf = (model: string, route: string) => costs?.ofRoute(model, route) ?? '';
    const routes = describeRoutes(host, sources, request, { minRows: maxRoutes, costOf }).map((row) => ({
      ...row,
      notes: notes.get(row.route) ?? [],
    }));
    const routeCount = countRoutes(host);
    return {
      routes,
      listed:
        routes.length < routeCount ? t('operator.routes_listed', { shown: routes.length, count: routeCount }) : '',
      routesSince: t('operator.requests_since', { time: format.shortTime(new Date(sources.recent.since)).text }),
      hasCosts: costs !== undefined,
      canReset: true,
      links: listLinksWithin(gateway, '/operator/routes', t, host),
      asOf: format.clock(new Date(host.now())),
    };
  },
  live: {
    topics: ['requests', 'health'],
    everySeconds: refreshSeconds,
    parts: { 'operator-routes': 'operator/routes-table.eta' },
  },
});
