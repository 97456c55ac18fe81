import { tablesPage } from '#core/web/actions/tables-page.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { describeTable } from '#core/web/pages/table.ts';
import { fieldTable } from '#core/web/resources/field.ts';
import { checks, probes, statusOf } from './resource.ts';
import { readSpending } from './results.ts';
import { probesSection } from './section.ts';
import { type ProbedRoute, readProbedRoutes } from './state.ts';

export const probesPage = tablesPage({
  path: '/operator/probes',
  title: 'probes.title',
  back: { path: '/operator/routes', label: 'operator.routes' },
  none: ['probes.none', 'probes.none_text'],
  resource: probes,
  async read(request) {
    const { host, t } = request;
    const { enabled, every_hours: hours } = host.section(probesSection);
    const [routes, spending] = await Promise.all([readProbedRoutes(host), readSpending(host.database, host.now())]);
    const probed = routes
      .filter(({ results }) => results.length > 0)
      .toSorted((a, b) => rankByState(a) - rankByState(b));
    return {
      lead: enabled ? t('probes.on', { count: hours }) : t('probes.off'),
      sections: [{ entries: probed }, describeSpending(spending, request)],
    };
  },
});

export const probedRoutePage: Page = {
  path: '/operator/probes/route',
  role: 'operator',
  title: 'probes.route_title',
  template: 'probes/route.eta',
  async show(request) {
    const { host, query } = request;
    const probed =
      (await readProbedRoutes(host)).find(({ route }) => route === query['route']) ??
      notFound('probes.route_unknown', { path: '/operator/probes', label: 'probes.title' });
    return {
      route: probed.route,
      status: statusOf(probed, request),
      table: fieldTable(request, 'checks', 'probes.checks', probed.results, checks.page),
    };
  },
};

function rankByState({ drifted, changed }: ProbedRoute): number {
  if (drifted.length > 0) return 0;
  return changed === undefined ? 2 : 1;
}

function describeSpending(spending: ReadonlyMap<string, number>, reader: PageRequest) {
  const { daily_tokens: budget } = reader.host.section(probesSection);
  return describeTable(
    reader,
    'spending',
    'probes.spending',
    [...spending],
    [
      { label: 'probes.upstream', fit: 'id', at: 'title', cell: ([upstream]) => upstream },
      { label: 'probes.tokens', isNumber: true, at: 'end', cell: ([, tokens]) => tokens },
      { label: 'probes.budget', isNumber: true, isNamed: true, at: 'note', cell: () => budget },
    ],
  );
}
