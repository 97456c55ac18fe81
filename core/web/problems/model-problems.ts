import { type ModelHealth, readModelHealth, severityOf } from '#core/business/model-health/model-health.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { StatusReports } from '#core/gateway/health/status-report.ts';
import { readRouteStatus, type RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { describeBreaker } from '../pages/breaker-state.ts';
import { describeFaultText } from '../pages/fault-text.ts';
import { describeModelState } from '../pages/model-state.ts';
import { inBrackets, type Problem, type ProblemKind, type ProblemReader, readEmphasis } from './problem.ts';

/** Models, and upstreams with open breakers; a line counts the remaining ones. */
const maxListed = 10;
const maxExplained = 2;

/** Models in trouble, the worst first, each kind the oldest first. */
export const modelProblems = (gateway: StatusReports): ProblemKind => ({
  name: 'model',
  order: 10,
  runbook: 'model-down',
  find: async (reader) => describeModels(await readModelHealth(gateway, reader.host), reader),
});

export function describeModels(health: readonly ModelHealth[], reader: ProblemReader): Problem[] {
  const models = findTroubled(health).toSorted(
    (first, second) =>
      severityOf(first.state) - severityOf(second.state) || beganAt(first, reader.host) - beganAt(second, reader.host),
  );
  return [
    ...models.slice(0, maxListed).map((model) => describeModel(model, reader)),
    ...describeMore(models.slice(maxListed), reader),
  ];
}

/** One without an incident is in trouble since now. */
function beganAt({ since }: ModelHealth, { now }: Pick<Host, 'now'>): number {
  return since ?? now();
}

function findTroubled(health: readonly ModelHealth[]): readonly ModelHealth[] {
  return health.filter(({ state }) => severityOf(state) < severityOf('working'));
}

const severities = { down: 'bad', degraded: 'warn', unknown: 'info', working: 'info', no_data: 'info' } as const;

function describeModel(model: ModelHealth, reader: ProblemReader): Problem {
  const { t, host } = reader;
  const { id, state, trouble, traffic } = model;
  const counts = { failed: traffic?.failed ?? 0, all: (traffic?.failed ?? 0) + (traffic?.answered ?? 0) };
  const cause = state === 'unknown' ? 'unknown' : (trouble?.cause ?? 'failing');
  const seen = counts.all === 0 ? '' : ` ${t('problem.model_seen', counts)}`;
  return {
    severity: severities[state],
    title: state === 'unknown' ? t('problem.model_unknown') : describeModelState(model, reader, host.now()).text,
    subject: id,
    // Appended separately, so that an asterisk of an upstream is not read as emphasis.
    pieces: [
      ...readEmphasis(t(`problem.model.${cause}`, { model: id })),
      { text: seen },
      { text: describeRoutesOf(model, reader) },
    ],
    since: trouble === undefined ? undefined : new Date(beganAt(model, host)),
    step: { path: '/operator/routes', label: t('problem.routes_of', { name: id }) },
    ...(state === 'degraded' && { runbook: 'model-degraded' }),
  };
}

/** Reasons why the routes take no requests: " openai/gpt-6-sol: Open, next probe in 22 s (503 overloaded)." */
function describeRoutesOf({ routes }: ModelHealth, reader: ProblemReader): string {
  return routes
    .filter(({ state }) => state !== 'closed')
    .slice(0, maxExplained)
    .map((status) => ` ${status.route}: ${describeBreaker(status, reader).text}${reasonOf(status, reader)}.`)
    .join('');
}

function reasonOf({ reason }: RouteStatus, { t }: ProblemReader): string {
  return reason === null ? '' : inBrackets(describeFaultText(reason, t));
}

/** @param models the worst first */
function describeMore(models: readonly ModelHealth[], { t, host }: ProblemReader): Problem[] {
  const [worst] = models;
  if (worst === undefined) return [];
  return [
    {
      severity: severities[worst.state],
      title: t('problem.model_more'),
      pieces: [{ text: t('problem.model_more.text', { count: models.length }) }],
      since: new Date(Math.min(...models.map((model) => beganAt(model, host)))),
      step: { path: '/operator/routes' },
    },
  ];
}

/**
 * Breakers that are not closed, by upstream: when one fails, all of its routes do. Those of a model in trouble are why it is, and have no
 * lines of their own.
 */
export const breakerProblems = (gateway: StatusReports): ProblemKind => ({
  name: 'breaker',
  order: 50,
  runbook: 'route-open',
  find: async (reader) =>
    describeBreakers(readRouteStatus(gateway, reader.host), await readModelHealth(gateway, reader.host), reader),
});

export function describeBreakers(
  statuses: ReadonlyMap<string, RouteStatus>,
  health: readonly ModelHealth[],
  reader: ProblemReader,
): Problem[] {
  const shown = new Set(findTroubled(health).flatMap(({ routes }) => routes.map(({ route }) => route)));
  const openedAt = ({ open_since: since }: RouteStatus) =>
    since === undefined ? reader.host.now() : Date.parse(since);
  const open = [...statuses.values()]
    .filter(({ route, state }) => state !== 'closed' && !shown.has(route))
    .toSorted((first, second) => openedAt(first) - openedAt(second));
  const byUpstream = [...Map.groupBy(open, ({ route }) => route.slice(0, route.indexOf('/')))];
  const listed = byUpstream.slice(0, maxListed).flatMap(([upstream, [oldest, ...others]]) => {
    if (oldest === undefined) return [];
    const name = others.length === 0 ? oldest.route : upstream;
    return describeOpen(name, others.length + 1, oldest, new Date(openedAt(oldest)), reader);
  });
  const more = byUpstream.slice(maxListed);
  const oldest = more[0]?.[1][0];
  return oldest === undefined ? listed : [...listed, describeMoreOpen(more.length, new Date(openedAt(oldest)), reader)];
}

function describeMoreOpen(count: number, since: Date, { t }: ProblemReader): Problem {
  return {
    severity: 'warn',
    title: t('problem.breaker_more'),
    pieces: [{ text: t('problem.breaker_more.text', { count }) }],
    since,
    step: { path: '/operator/routes' },
  };
}

function describeOpen(name: string, count: number, oldest: RouteStatus, since: Date, reader: ProblemReader): Problem {
  const { t } = reader;
  return {
    severity: 'warn',
    title: t('operator.breaker'),
    subject: name,
    pieces: [
      ...readEmphasis(t('problem.breaker.text', { count, name })),
      { text: ` ${describeBreaker(oldest, reader).text}` },
      { text: reasonOf(oldest, reader) },
    ],
    since,
    step: { path: '/operator/routes', label: t('problem.routes_of', { name }) },
  };
}
