import { confirmIncident, listIncidents, readCurrentIncidents } from '#core/business/model-health/incident-store.ts';
import type { Incident } from '#core/business/model-health/incident.ts';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import type { Check, CheckName } from './checks/check.ts';
import { listChecks, runCheck, listProbedRoutes } from './probe-route.ts';
import { readLastTries, redateFutureResults, removeOldResults } from './results.ts';
import { probesSection } from './section.ts';
import { getProbeState } from './state.ts';
import { Trials, type TrialSources } from './trials.ts';

const hourMs = 3_600_000;
const intervalSeconds = 600; // between runs of the job
const maxRunMs = 480_000;
const retryDelayMs = hourMs;
const maxIncidents = 100;

/**
 * `answers` is also due if a model of the route has begun to fail or has recovered since the last try. An incident is confirmed if every
 * route of its model fails.
 */
export async function runDueProbes(host: Host, trials: Trials): Promise<void> {
  const routes = listProbedRoutes(host);
  await redateFutureResults(host.database, host.now());
  const tries = await readLastTries(
    host.database,
    routes.map(({ route }) => route.id),
  );
  const incidents = await readIncidents(host);
  await runDueChecks(host, trials, selectDueRoutes(host, routes, tries, incidents), tries);
  await confirmIncidents(host, incidents);
}

type LastTries = Awaited<ReturnType<typeof readLastTries>>;

const findLastTry = (tries: LastTries, { id }: Route, check: CheckName) => tries.get(`${id} ${check}`);

interface DueRoute {
  readonly model: Model;
  readonly route: Route;
  readonly due: readonly Check[];
}

/** The routes tried least recently come first. */
function selectDueRoutes(
  host: Host,
  routes: ReturnType<typeof listProbedRoutes>,
  tries: LastTries,
  incidents: readonly Incident[],
): DueRoute[] {
  const settings = host.section(probesSection);
  const lastTryOf = (route: Route, check: CheckName) => findLastTry(tries, route, check);
  const incidentChangedAt = (route: Route): number =>
    Math.max(
      -Infinity,
      ...incidents.filter(createRouteFilter(host, route)).map(({ endedAt, startedAt }) => endedAt ?? startedAt),
    );
  const isDue = (route: Route, name: CheckName): boolean => {
    const periodMs = (name === 'context' ? settings.context_every_days * 24 : settings.every_hours) * hourMs;
    const { at, state } = lastTryOf(route, name) ?? { at: -Infinity, state: undefined };
    if (name === 'answers' && at < incidentChangedAt(route)) return true;
    const isConclusive = state === 'ok' || (state === 'failed' && name !== 'answers');
    return periodMs > 0 && host.now() - at >= (isConclusive ? periodMs : Math.min(retryDelayMs, periodMs));
  };
  const selectDueChecks = (model: Model, route: Route): readonly Check[] => {
    const dueChecks = listChecks(model, route).filter(({ name }) => isDue(route, name));
    // A route that does not answer gets no other checks.
    const isUnresponsive = (lastTryOf(route, 'answers')?.state ?? 'ok') !== 'ok' && dueChecks[0]?.name !== 'answers';
    return isUnresponsive ? [] : dueChecks;
  };
  return routes
    .map(({ model, route }) => ({ model, route, due: selectDueChecks(model, route) }))
    .filter(({ due }) => due.length > 0)
    .toSorted((a, b) => (lastTryOf(a.route, 'answers')?.at ?? 0) - (lastTryOf(b.route, 'answers')?.at ?? 0));
}

async function runDueChecks(
  host: Host,
  trials: Trials,
  dueRoutes: readonly DueRoute[],
  tries: LastTries,
): Promise<void> {
  const budget = host.section(probesSection).daily_tokens;
  const deadline = host.monotonic() + maxRunMs;
  for (const { model, route, due } of dueRoutes) {
    for (const check of due) {
      if (host.monotonic() > deadline) return;
      const lastTryAt = findLastTry(tries, route, check.name)?.at ?? 0;
      const result = await runCheck({ host, trials, budget, lastTryAt }, model, route, check);
      if (result === undefined) break;
      const { verdict } = result;
      if (verdict.state === 'failed')
        host.log.warn(
          `probe: route ${route.id} failed ${check.name}: ${verdict.reason} ${verdict.detail ?? ''}`.trimEnd(),
        );
      if (check.name === 'answers' && verdict.state !== 'ok') break;
    }
  }
}

async function readIncidents({ database, now }: Host): Promise<Incident[]> {
  const recentIncidents = await listIncidents(database, { since: now() - retryDelayMs, limit: maxIncidents });
  const downIncidents = recentIncidents.filter(({ kind }) => kind === 'down');
  const currentIncidents = await readCurrentIncidents(database.fork());
  const failingIncidents = currentIncidents.filter(({ kind, latest, calmSince, quietSince }) => {
    const isFailing = kind === 'degraded' && (latest.cause === 'failing' || latest.cause === 'last_failed');
    return isFailing && calmSince === undefined && quietSince === undefined;
  });
  return [...downIncidents, ...failingIncidents];
}

function createRouteFilter({ catalog }: Host, route: Route): (incident: Incident) => boolean {
  const models = catalog.models.filter(({ routes }) => routes.some(({ id }) => id === route.id));
  return ({ model }) => models.some(({ publicName }) => publicName === model);
}

async function confirmIncidents({ database, catalog }: Host, incidents: readonly Incident[]): Promise<void> {
  for (const incident of incidents) {
    const { model, startedAt, endedAt = Infinity } = incident;
    const routes = catalog.models.find(({ publicName }) => publicName === model)?.routes.map(({ id }) => id) ?? [];
    if (routes.length === 0) continue;
    const tries = await readLastTries(database, routes);
    const lastTries = routes.map((id) => tries.get(`${id} answers`));
    // Rate limits are inconclusive, not failures.
    const failedAt = lastTries.map((attempt) => (attempt?.state === 'failed' ? attempt.at : NaN));
    if (failedAt.every((at) => at >= startedAt && at <= endedAt))
      await confirmIncident(database, incident, Math.max(...failedAt));
  }
}

export function createProbeJobs(gateway: TrialSources): readonly JobDefinition[] {
  return [
    {
      name: 'probe-routes',
      description: 'Probes routes that have not been probed for a while, as `probes` in gateway.yaml says.',
      schedule: { every: intervalSeconds },
      attempts: 1,
      async run(_data, host) {
        if (!host.section(probesSection).enabled) return;
        await using trials = await Trials.open(host, gateway);
        if (trials === undefined) return;
        await runDueProbes(host, trials);
        await getProbeState(host).read(host);
      },
    },
    {
      name: 'remove-old-probes',
      description: 'Deletes results of probes after 60 days.',
      schedule: { pattern: '53 3 * * *' },
      run: (_data, host) => removeOldResults(host.database, host.now()),
    },
  ];
}
