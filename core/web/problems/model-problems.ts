import { type ModelHealth, readModelHealth, severityOf } from '#core/business/model-health/model-health.ts';
import type { StatusReports } from '#core/gateway/health/status-report.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readRouteStatus, type RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { describeBreaker } from '../pages/breaker-state.ts';
import { describeFaultText } from '../pages/fault-text.ts';
import { describeModelState } from '../pages/model-state.ts';
import { inBrackets, type Problem, type ProblemKind, type ProblemReader, readEmphasis } from './problem.ts';

const maxListed = 10; // models, or upstreams with open breakers; one more line counts the rest
const maxExplained = 2; // open routes of a model

export const createModelProblems = (gateway: StatusReports): ProblemKind => ({
  name: 'model',
  order: 10,
  runbook: 'model-down',
  find: async (reader) => describeModels(await readModelHealth(gateway, reader.host), reader),
});

export function describeModels(health: readonly ModelHealth[], reader: ProblemReader): Problem[] {
  const models = filterTroubled(health).toSorted(
    (first, second) =>
      severityOf(first.state) - severityOf(second.state) ||
      findIncidentStart(first, reader.host) - findIncidentStart(second, reader.host),
  );
  return [
    ...models.slice(0, maxListed).map((model) => describeModel(model, reader)),
    ...describeHidden(models.slice(maxListed), reader),
  ];
}

function findIncidentStart({ since }: ModelHealth, { now }: Pick<Host, 'now'>): number {
  return since ?? now();
}

function filterTroubled(health: readonly ModelHealth[]): readonly ModelHealth[] {
  return health.filter(({ state }) => severityOf(state) < severityOf('working'));
}

const severityByState = { down: 'bad', degraded: 'warn', unknown: 'info', working: 'info', no_data: 'info' } as const;

function describeModel(model: ModelHealth, reader: ProblemReader): Problem {
  const { t, host } = reader;
  const { id, state, trouble, traffic } = model;
  const counts = { failed: traffic?.failed ?? 0, all: (traffic?.failed ?? 0) + (traffic?.answered ?? 0) };
  const cause = state === 'unknown' ? 'unknown' : (trouble?.cause ?? 'failing');
  const trafficText = counts.all === 0 ? '' : ` ${t('problem.model_seen', counts)}`;
  return {
    severity: severityByState[state],
    title: state === 'unknown' ? t('problem.model_unknown') : describeModelState(model, reader, host.now()).text,
    subject: id,
    // Appended separately, so that an asterisk in an upstream's text is not read as emphasis.
    pieces: [
      ...readEmphasis(t(`problem.model.${cause}`, { model: id })),
      { text: trafficText },
      { text: describeOpenRoutes(model, reader) },
    ],
    since: trouble === undefined ? undefined : new Date(findIncidentStart(model, host)),
    step: { path: '/operator/routes', label: t('problem.routes_of', { name: id }) },
    ...(state === 'degraded' && { runbook: 'model-degraded' }),
  };
}

function describeOpenRoutes({ routes }: ModelHealth, reader: ProblemReader): string {
  return routes
    .filter(({ state }) => state !== 'closed')
    .slice(0, maxExplained)
    .map((status) => ` ${status.route}: ${describeBreaker(status, reader).text}${describeReason(status, reader)}.`)
    .join('');
}

function describeReason({ reason }: RouteStatus, { t }: ProblemReader): string {
  return reason === null ? '' : inBrackets(describeFaultText(reason, t));
}

function describeHidden(models: readonly ModelHealth[], { t, host }: ProblemReader): Problem[] {
  const [worst] = models; // models are sorted, worst first
  if (worst === undefined) return [];
  return [
    {
      severity: severityByState[worst.state],
      title: t('problem.model_more'),
      pieces: [{ text: t('problem.model_more.text', { count: models.length }) }],
      since: new Date(Math.min(...models.map((model) => findIncidentStart(model, host)))),
      step: { path: '/operator/routes' },
    },
  ];
}

/**
 * Creates the kind of problem that lists breakers that are not closed. They are grouped by upstream, because all routes to an upstream fail
 * together. Breakers of models that are already listed are omitted, because the model's line mentions them.
 */
export const createBreakerProblems = (gateway: StatusReports): ProblemKind => ({
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
  const troubledRoutes = new Set(filterTroubled(health).flatMap(({ routes }) => routes.map(({ route }) => route)));
  const parseOpenedAt = ({ open_since: since }: RouteStatus) =>
    since === undefined ? reader.host.now() : Date.parse(since);
  const openBreakers = [...statuses.values()]
    .filter(({ route, state }) => state !== 'closed' && !troubledRoutes.has(route))
    .toSorted((first, second) => parseOpenedAt(first) - parseOpenedAt(second));
  const byUpstream = [...Map.groupBy(openBreakers, ({ route }) => route.slice(0, route.indexOf('/')))];
  const listed = byUpstream.slice(0, maxListed).flatMap(([upstream, [oldest, ...others]]) => {
    if (oldest === undefined) return [];
    const name = others.length === 0 ? oldest.route : upstream;
    return describeUpstreamBreaker(name, others.length + 1, oldest, new Date(parseOpenedAt(oldest)), reader);
  });
  const hiddenUpstreams = byUpstream.slice(maxListed);
  const oldest = hiddenUpstreams[0]?.[1][0];
  return oldest === undefined
    ? listed
    : [...listed, describeHiddenUpstreams(hiddenUpstreams.length, new Date(parseOpenedAt(oldest)), reader)];
}

function describeHiddenUpstreams(count: number, since: Date, { t }: ProblemReader): Problem {
  return {
    severity: 'warn',
    title: t('problem.breaker_more'),
    pieces: [{ text: t('problem.breaker_more.text', { count }) }],
    since,
    step: { path: '/operator/routes' },
  };
}

function describeUpstreamBreaker(
  name: string,
  count: number,
  oldest: RouteStatus,
  since: Date,
  reader: ProblemReader,
): Problem {
  const { t } = reader;
  return {
    severity: 'warn',
    title: t('operator.breaker'),
    subject: name,
    pieces: [
      ...readEmphasis(t('problem.breaker.text', { count, name })),
      { text: ` ${describeBreaker(oldest, reader).text}` },
      { text: describeReason(oldest, reader) },
    ],
    since,
    step: { path: '/operator/routes', label: t('problem.routes_of', { name }) },
  };
}
