import { gaugeBy } from '#core/gateway/health/gauge.ts';
import type { HealthCheck } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { getDemotedRoutes } from '#core/gateway/model-call/demoted-routes.ts';
import { runInBackground } from '#core/platform/background.ts';
import { defineSentences } from '#core/platform/sentences.ts';
import { listChecks, listProbedRoutes } from './probe-route.ts';
import { type LastResult, readLastResults } from './results.ts';
import { probesSection } from './section.ts';
import en from './texts/en.json' with { type: 'json' };

const probesReason = defineSentences(en);

const rereadAfterMs = 30_000; // health checks run every few seconds on every instance
const maxListed = 5;

export interface ProbedRoute {
  readonly route: string;
  readonly model: string; // public name
  readonly results: readonly LastResult[];
  readonly drifted: readonly LastResult[]; // failed checks of declared capabilities
  readonly changed: LastResult | undefined; // the fingerprint, if it differs from the baseline
}

export function listFailedChecks({ drifted, changed }: ProbedRoute): readonly LastResult[] {
  return changed === undefined ? drifted : [...drifted, changed];
}

/** Reads results only for capabilities that the routes now declare, so correcting a declaration ends a drift. */
export async function readProbedRoutes(host: Pick<Host, 'database' | 'catalog'>): Promise<ProbedRoute[]> {
  const routes = listProbedRoutes(host);
  const results = await readLastResults(
    host.database,
    routes.map(({ route }) => route.id),
  );
  const byRoute = Map.groupBy(results, ({ route }) => route);
  return routes.map(({ model, route }) => {
    const checkOrder = listChecks(model, route).map(({ name }) => name);
    const declaredResults = (byRoute.get(route.id) ?? [])
      .filter(({ check }) => checkOrder.includes(check))
      .toSorted((a, b) => checkOrder.indexOf(a.check) - checkOrder.indexOf(b.check));
    const failedResults = declaredResults.filter(({ state }) => state === 'failed');
    return {
      route: route.id,
      model: model.publicName,
      results: declaredResults,
      drifted: failedResults.filter(({ check }) => check !== 'fingerprint'),
      changed: failedResults.find(({ check }) => check === 'fingerprint'),
    };
  });
}

class ProbeState {
  routes: readonly ProbedRoute[] = [];
  #readAt = -Infinity;

  refresh(host: Host): void {
    if (host.monotonic() - this.#readAt < rereadAfterMs) return;
    this.#readAt = host.monotonic();
    runInBackground(host.log, 'reading probe results', () => this.read(host));
  }

  async read(host: Host): Promise<void> {
    const { enabled, on_drift: onDrift } = host.section(probesSection);
    this.routes = enabled ? await readProbedRoutes(host) : [];
    const demoted = getDemotedRoutes(host);
    demoted.clear();
    if (onDrift === 'last') for (const { route, drifted } of this.routes) if (drifted.length > 0) demoted.add(route);
  }
}

export function getProbeState(host: Pick<Host, 'keep'>): ProbeState {
  return host.keep('probes/state', () => new ProbeState());
}

export const probesCheck: HealthCheck = {
  name: 'probes',
  page: '/operator/probes',
  runbook: 'route-drifted',
  appliesTo: (host) => host.section(probesSection).enabled || getProbeState(host).routes.length > 0,
  check(host) {
    const state = getProbeState(host);
    const { enabled } = host.section(probesSection);
    if (enabled || state.routes.length > 0) state.refresh(host);
    const failingRoutes = state.routes.filter((route) => listFailedChecks(route).length > 0);
    if (failingRoutes.length === 0) return { ok: true };
    const since = Math.min(...failingRoutes.flatMap(listFailedChecks).map(({ startedAt }) => +startedAt));
    const describeRoute = (route: ProbedRoute) =>
      `${route.route} (${listFailedChecks(route)
        .map(({ check }) => check)
        .join(', ')})`;
    const routeTexts = failingRoutes.slice(0, maxListed).map(describeRoute);
    const omittedText = failingRoutes.length > maxListed ? `, … (+${failingRoutes.length - maxListed})` : '';
    return {
      ok: false,
      reason: probesReason('probes.reason.drifted', { routes: `${routeTexts.join(', ')}${omittedText}` }),
      since,
    };
  },
};

type ReadRouteValue = (route: ProbedRoute) => number | undefined;

const createRouteGauge = (name: string, description: string, read: ReadRouteValue) =>
  gaugeBy(['route'], name, description, (host) =>
    getProbeState(host).routes.flatMap((route) => {
      const value = read(route);
      return value === undefined ? [] : [[route.route, value] as const];
    }),
  );

export const probeGauges = [
  createRouteGauge(
    'route_drifted',
    '1 if the last probe found that the route does not do what it declares.',
    ({ results, drifted }) => (results.length === 0 ? undefined : Number(drifted.length > 0)),
  ),
  createRouteGauge(
    'route_fingerprint_changed',
    '1 if the route answers like a different model than in its baseline.',
    ({ results, changed }) =>
      results.some(({ check }) => check === 'fingerprint') ? Number(changed !== undefined) : undefined,
  ),
  createRouteGauge(
    'route_probe_tokens_per_second',
    'Output tokens per second of the last streamed probe.',
    ({ results }) => results.find(({ check }) => check === 'streams')?.tokensPerSecond,
  ),
];
