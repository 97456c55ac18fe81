import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { type LastResult, readSpending } from './results.ts';
import { probesSection } from './section.ts';
import { type ProbedRoute, readProbedRoutes } from './state.ts';

/** Routes on the page, those with trouble first; `daypass probe` lists all. */
const listed = 300;
/** Characters of what a vendor said. */
const longestDetail = 160;

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

const styles = ['operator.css', 'tables.css'];

/** `/operator/probes`: what the last probes of each route have found. */
export const probesPage: Page = {
  path: '/operator/probes',
  role: 'operator',
  title: 'probes.title',
  template: viewPath('probes/list.eta'),
  styles,
  async show(request) {
    const { host, t } = request;
    const { enabled, every_hours: hours } = host.section(probesSection);
    const [routes, spending] = await Promise.all([readProbedRoutes(host), readSpending(host.database, host.now())]);
    const probed = routes.filter(({ results }) => results.length > 0).toSorted((one, other) => rank(one) - rank(other));
    return {
      lead: enabled ? t('probes.on', { count: hours }) : t('probes.off'),
      table: routesTable(probed.slice(0, listed), request),
      spending: spendingTable(spending, request),
    };
  },
};

/** `/operator/probes/route?route=…`: each check of one route. */
export const probedRoutePage: Page = {
  path: '/operator/probes/route',
  role: 'operator',
  title: 'probes.route_title',
  template: viewPath('probes/route.eta'),
  styles,
  async show(request) {
    const { host, query } = request;
    const known = (await readProbedRoutes(host)).find(({ route }) => route === query['route']);
    if (known === undefined)
      throw new PageError(404, 'probes.route_unknown', { action: { path: '/operator/probes', label: 'probes.title' } });
    return { route: known.route, status: statusOf(known, request), table: checksTable(known.results, request) };
  },
};

function rank({ drifted, changed }: ProbedRoute): number {
  return drifted.length > 0 ? 0 : changed === undefined ? 2 : 1;
}

function statusOf({ results, drifted, changed }: ProbedRoute, { t }: Pick<Reader, 't'>) {
  if (results.length === 0) return { kind: 'waiting', text: t('probes.state.waiting') } as const;
  if (drifted.length > 0) return { kind: 'bad', text: t('probes.state.drifted') } as const;
  if (changed !== undefined) return { kind: 'warn', text: t('probes.state.changed') } as const;
  return { kind: 'ok', text: t('probes.state.ok') } as const;
}

function routesTable(routes: readonly ProbedRoute[], reader: Reader) {
  const { t, format } = reader;
  return {
    id: 'probes',
    title: t('probes.title'),
    columns: [
      { label: t('operator.route'), fit: 'id', at: 'title' },
      { label: t('probes.state'), at: 'end' },
      { label: t('probes.failed_checks'), fit: 'text', at: 'below' },
      { label: t('operator.first_token'), isNumber: true, at: 'hide' },
      { label: t('probes.speed'), isNumber: true, at: 'note' },
      { label: t('probes.score'), isNumber: true, at: 'hide' },
      { label: t('probes.last'), at: 'hide' },
    ],
    rows: routes.map((probed) => {
      const { route, results, drifted, changed } = probed;
      const streamed = results.find(({ check }) => check === 'streams');
      const score = results.find(({ check }) => check === 'fingerprint')?.score;
      const last = new Date(Math.max(...results.map(({ startedAt }) => +startedAt)));
      return [
        { text: route, path: `/operator/probes/route?${new URLSearchParams({ route }).toString()}` },
        statusOf(probed, reader),
        {
          text: [...drifted, ...(changed === undefined ? [] : [changed])]
            .map(({ check }) => t(`probes.check.${check}`))
            .join(', '),
        },
        { text: streamed?.firstContentMs === undefined ? '' : format.duration(streamed.firstContentMs).text },
        { text: speedOf(streamed, reader) },
        { text: score === undefined ? '' : format.percent(score / 100, 0) },
        { ...format.dayTime(last) },
      ];
    }),
  };
}

function speedOf(result: LastResult | undefined, { t, format }: Reader): string {
  const rate = result?.tokensPerSecond;
  return rate === undefined ? '' : t('probes.rate', { rate: format.number(Math.round(rate)) });
}

const kinds = { ok: 'ok', failed: 'bad', unknown: 'waiting' } as const;

function checksTable(results: readonly LastResult[], reader: Reader) {
  const { t, format } = reader;
  return {
    id: 'checks',
    title: t('probes.checks'),
    columns: [
      { label: t('probes.check'), at: 'title' },
      { label: t('probes.state'), at: 'end' },
      { label: t('probes.found'), fit: 'text', at: 'below' },
      { label: t('probes.tokens'), isNumber: true, isNamed: true, at: 'note' },
      { label: t('probes.last'), at: 'note-end' },
    ],
    rows: results.map((result) => [
      { text: t(`probes.check.${result.check}`) },
      { text: t(`probes.result.${result.state}`), kind: kinds[result.state] },
      { text: foundBy(result, reader) },
      { text: format.number(result.tokens) },
      { ...format.dayTime(result.startedAt) },
    ]),
  };
}

function foundBy(result: LastResult, reader: Reader): string {
  const { t, format } = reader;
  const { reason, detail, firstContentMs, score } = result;
  const measured = [
    firstContentMs === undefined ? '' : t('probes.first_after', { time: format.duration(firstContentMs).text }),
    speedOf(result, reader),
    score === undefined ? '' : t('probes.resembles', { share: format.percent(score / 100, 0) }),
  ];
  const why = reason === undefined ? '' : t(`probes.reason.${reason}`);
  return [why, (detail ?? '').slice(0, longestDetail), ...measured].filter((part) => part !== '').join(' · ');
}

function spendingTable(spending: ReadonlyMap<string, number>, { t, format, host }: Reader) {
  const { daily_tokens: budget } = host.section(probesSection);
  return {
    id: 'spending',
    title: t('probes.spending'),
    columns: [
      { label: t('probes.upstream'), fit: 'id', at: 'title' },
      { label: t('probes.tokens'), isNumber: true, at: 'end' },
      { label: t('probes.budget'), isNumber: true, isNamed: true, at: 'note' },
    ],
    rows: [...spending].map(([upstream, tokens]) => [
      { text: upstream },
      { text: format.number(tokens) },
      { text: format.number(budget) },
    ]),
  };
}
