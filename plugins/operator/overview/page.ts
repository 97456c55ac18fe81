import type { Registry } from '#core/extension/registry.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { countRoutes, describeRoutes } from '../routes/route-rows.ts';
import type { RunningRequests } from '../running-requests.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { describeJobs, describeJournal } from './cards.ts';
import { describeNeeds } from './needs.ts';
import { type OverviewSources, readSources } from '../sources.ts';
import { describeTiles } from './tiles.ts';

/** Routes on the overview, at least; all routes of a model stay together. */
const listedRoutes = 6;
/** Seconds between two updates of figures and cooldowns. */
const interval = 5;

/** `/operator`: today's figures, what needs the operator, routes, journal and jobs. */
export function overviewPage(
  gateway: Pick<Registry, 'statusReports' | 'healthChecks'>,
  running: RunningRequests,
): Page {
  const values = async (request: PageRequest) => {
    const sources = await readSources(gateway, request.host);
    return {
      tiles: await describeTiles(request, running),
      ...(await describeNeeds(gateway, request, sources)),
      ...describeOverviewRoutes(sources, request),
      cards: [describeJournal(gateway, request), await describeJobs(request)],
      asOf: request.format.clock(new Date(request.host.now())),
    };
  };
  return {
    path: '/operator',
    role: 'operator',
    title: 'operator.overview',
    navigation: { label: 'operator.overview', icon: 'home', order: 10 },
    template: viewPath('operator/overview.eta'),
    styles: ['operator.css', 'tables.css'],
    show: values,
    live: {
      topics: ['requests', 'orders', 'health'],
      everySeconds: interval,
      parts: {
        'operator-tiles': viewPath('operator/tiles.eta'),
        'operator-needs': viewPath('operator/needs.eta'),
        'operator-routes': viewPath('operator/routes-table.eta'),
        'operator-cards': viewPath('operator/cards.eta'),
      },
      values,
    },
  };
}

function describeOverviewRoutes(sources: OverviewSources, request: PageRequest) {
  return {
    routes: describeRoutes(request.host, sources, request, listedRoutes),
    routesTotal: request.t('operator.all_routes', { count: countRoutes(request.host) }),
    routesSince: request.t('operator.requests_since', {
      time: request.format.shortTime(new Date(sources.recent.since)).text,
    }),
  };
}
