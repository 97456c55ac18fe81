import { service } from '#core/config/sections/core-sections.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { countRoutes, describeRoutes } from '../routes/route-rows.ts';
import { type OverviewSources, readOverviewSources } from '../sources.ts';
import { describeSpans, parseSpan } from '../span.ts';
import { describeJobs, describeJournal } from './cards.ts';
import { describeNeeds, type NeedsSource } from './needs.ts';
import { describeTiles } from './tiles.ts';

const minRoutes = 6;
const refreshSeconds = 5;

export const createOverviewPage = (
  gateway: NeedsSource & Pick<Registry, 'statusReports' | 'healthChecks' | 'costsReader'>,
): Page => ({
  path: '/operator',
  role: 'operator',
  title: 'operator.overview',
  navigation: { label: 'operator.overview', icon: 'home', order: 10 },
  template: 'operator/overview.eta',
  async show(request) {
    const { host, t, format } = request;
    const sources = await readOverviewSources(gateway, host);
    const span = parseSpan(request);
    const zone = host.section(service).time_zone;
    return {
      heading: t(`operator.span_heading.${span}`),
      // Days are in the service's time zone, times in the reader's.
      daysZone: zone === format.timeZone ? '' : t('operator.days_zone', { zone: zone.replaceAll('_', ' ') }),
      spans: describeSpans(span, request, (name) => (name === 'today' ? '/operator' : `/operator?span=${name}`)),
      tiles: await describeTiles(gateway, request, span),
      ...(await describeNeeds(gateway, request)),
      ...describeOverviewRoutes(sources, request),
      cards: [describeJournal(gateway, request), await describeJobs(request)],
      asOf: format.clock(new Date(host.now())),
    };
  },
  live: {
    topics: ['requests', 'orders', 'health'],
    everySeconds: refreshSeconds,
    parts: {
      'operator-tiles': 'parts/tiles.eta',
      'operator-needs': 'operator/needs.eta',
      'operator-routes': 'operator/overview-routes.eta',
      'operator-cards': 'operator/cards.eta',
    },
  },
});

function describeOverviewRoutes(sources: OverviewSources, request: PageRequest) {
  const troubledRows = describeRoutes(request.host, sources, request, { minRows: minRoutes, isTroubleOnly: true });
  return {
    routes:
      troubledRows.length > 0 ? troubledRows : describeRoutes(request.host, sources, request, { minRows: minRoutes }),
    routesHeading: request.t(troubledRows.length > 0 ? 'operator.routes_troubled' : 'operator.routes_heading'),
    routesTotal: request.t('operator.all_routes', { count: countRoutes(request.host) }),
    routesSince: request.t('operator.requests_since', {
      time: request.format.shortTime(new Date(sources.recent.since)).text,
    }),
  };
}
