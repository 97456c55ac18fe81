import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { describeTable } from '#core/web/pages/table.ts';
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
  template: 'probes/list.eta',
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
  template: 'probes/route.eta',
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

function resultOf({ results }: ProbedRoute, name: LastResult['check']): LastResult | undefined {
  return results.find(({ check }) => check === name);
}

function linkTo({ route }: ProbedRoute) {
  return { text: route, path: `/operator/probes/route?${new URLSearchParams({ route }).toString()}` };
}

function routesTable(routes: readonly ProbedRoute[], reader: Reader) {
  const { t, format } = reader;
  const failedOf = ({ drifted, changed }: ProbedRoute) =>
    [...drifted, ...(changed === undefined ? [] : [changed])].map(({ check }) => t(`probes.check.${check}`)).join(', ');
  const firstOf = (probed: ProbedRoute) => {
    const first = resultOf(probed, 'streams')?.firstContentMs;
    return first === undefined ? '' : format.duration(first).text;
  };
  const scoreOf = (probed: ProbedRoute) => {
    const score = resultOf(probed, 'fingerprint')?.score;
    return score === undefined ? '' : format.percent(score / 100, 0);
  };
  const hidden = { at: 'hide', isNumber: true } as const;
  return describeTable(reader, 'probes', 'probes.title', routes, [
    { label: 'operator.route', fit: 'id', at: 'title', cell: linkTo },
    { label: 'probes.state', at: 'end', cell: (probed) => statusOf(probed, reader) },
    { label: 'probes.failed_checks', fit: 'text', at: 'below', cell: failedOf },
    { label: 'operator.first_token', ...hidden, cell: firstOf },
    {
      label: 'probes.speed',
      isNumber: true,
      at: 'note',
      cell: (probed) => speedOf(resultOf(probed, 'streams'), reader),
    },
    { label: 'probes.score', ...hidden, cell: scoreOf },
    {
      label: 'probes.last',
      at: 'hide',
      cell: ({ results }) => new Date(Math.max(...results.map(({ startedAt }) => +startedAt))),
    },
  ]);
}

function speedOf(result: LastResult | undefined, { t, format }: Reader): string {
  const rate = result?.tokensPerSecond;
  return rate === undefined ? '' : t('probes.rate', { rate: format.number(Math.round(rate)) });
}

const kinds = { ok: 'ok', failed: 'bad', unknown: 'waiting' } as const;

function checksTable(results: readonly LastResult[], reader: Reader) {
  const { t } = reader;
  const stateOf = ({ state }: LastResult) => ({ text: t(`probes.result.${state}`), kind: kinds[state] });
  return describeTable(reader, 'checks', 'probes.checks', results, [
    { label: 'probes.check', at: 'title', cell: ({ check }) => t(`probes.check.${check}`) },
    { label: 'probes.state', at: 'end', cell: stateOf },
    { label: 'probes.found', fit: 'text', at: 'below', cell: (result) => foundBy(result, reader) },
    { label: 'probes.tokens', isNumber: true, isNamed: true, at: 'note', cell: ({ tokens }) => tokens },
    { label: 'probes.last', at: 'note-end', cell: ({ startedAt }) => startedAt },
  ]);
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

function spendingTable(spending: ReadonlyMap<string, number>, reader: Reader) {
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
