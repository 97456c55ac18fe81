import { confirmIncident, listIncidents, readCurrentIncidents } from '#core/business/model-health/incident-store.ts';
import type { Incident } from '#core/business/model-health/incident.ts';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import type { Check, CheckName } from './checks/check.ts';
import { checksOf, probe, routesOf } from './probe-route.ts';
import { readLastTries, removeOldResults } from './results.ts';
import { probesSection } from './section.ts';
import { probeState } from './state.ts';
import { Trials, type TrialSources } from './trials.ts';

const hour = 3_600_000;
const interval = 600; // s between runs of the job
const maxRunTime = 480_000; // ms
/** Delay before an inconclusive check is retried. */
const retryAfter = hour;
const maxIncidents = 100;

/**
 * Runs the checks that are due, least recently tried routes first. The check `answers` is also due if a model of
 * the route has begun to fail or recovered since the last try. An incident is confirmed if every route of its model fails.
 */
export async function runDueProbes(host: Host, trials: Trials): Promise<void> {
  const settings = host.section(probesSection);
  const routes = routesOf(host);
  const tries = await readLastTries(
    host.database,
    routes.map(({ route }) => route.id),
  );
  const lastOf = ({ id }: Route, check: CheckName) => tries.get(`${id} ${check}`);
  const incidents = await readIncidents(host);
  const changedAt = (route: Route): number =>
    Math.max(
      -Infinity,
      ...incidents.filter(concerns(host, route)).map(({ endedAt, startedAt }) => endedAt ?? startedAt),
    );
  const isDue = (route: Route, name: CheckName): boolean => {
    const every = (name === 'context' ? settings.context_every_days * 24 : settings.every_hours) * hour;
    const { at, state } = lastOf(route, name) ?? { at: -Infinity, state: undefined };
    if (name === 'answers' && at < changedAt(route)) return true;
    const isKnown = state === 'ok' || (state === 'failed' && name !== 'answers');
    return every > 0 && host.now() - at >= (isKnown ? every : Math.min(retryAfter, every));
  };
  const dueOf = (model: Model, route: Route): readonly Check[] => {
    const due = checksOf(model, route).filter(({ name }) => isDue(route, name));
    // No other checks run on a route that does not answer.
    const isSilent = (lastOf(route, 'answers')?.state ?? 'ok') !== 'ok' && due[0]?.name !== 'answers';
    return isSilent ? [] : due;
  };
  const waiting = routes
    .map(({ model, route }) => ({ model, route, due: dueOf(model, route) }))
    .filter(({ due }) => due.length > 0)
    .toSorted((a, b) => (lastOf(a.route, 'answers')?.at ?? 0) - (lastOf(b.route, 'answers')?.at ?? 0));
  const until = host.monotonic() + maxRunTime;
  for (const { model, route, due } of waiting) {
    for (const check of due) {
      if (host.monotonic() > until) return confirmIncidents(host, incidents);
      const lastTry = lastOf(route, check.name)?.at ?? 0;
      const terms = { budget: settings.daily_tokens, lastTry };
      const result = await probe({ host, trials, ...terms }, model, route, check);
      if (result === undefined) break;
      const { verdict } = result;
      if (verdict.state === 'failed')
        host.log.warn(
          `probe: route ${route.id} failed ${check.name}: ${verdict.reason} ${verdict.detail ?? ''}`.trimEnd(),
        );
      if (check.name === 'answers' && verdict.state !== 'ok') break;
    }
  }
  await confirmIncidents(host, incidents);
}

/** Reads recent incidents with a model down, and current or suspected incidents with a failing model. */
async function readIncidents({ database, now }: Host): Promise<Incident[]> {
  const recent = await listIncidents(database, { since: now() - retryAfter, limit: maxIncidents });
  const down = recent.filter(({ kind }) => kind === 'down');
  const current = await readCurrentIncidents(database.fork());
  const failing = current.filter(({ kind, latest, calmSince, quietSince }) => {
    const fails = kind === 'degraded' && (latest.cause === 'failing' || latest.cause === 'last_failed');
    return fails && calmSince === undefined && quietSince === undefined;
  });
  return [...down, ...failing];
}

function concerns({ catalog }: Host, route: Route): (incident: Incident) => boolean {
  const models = catalog.models.filter(({ routes }) => routes.some(({ id }) => id === route.id));
  return ({ model }) => models.some(({ publicName }) => publicName === model);
}

/** Confirms incidents during which every route of the model failed a check. Rate limits do not count as failures. */
async function confirmIncidents({ database, catalog }: Host, incidents: readonly Incident[]): Promise<void> {
  for (const incident of incidents) {
    const { model, startedAt, endedAt = Infinity } = incident;
    const routes = catalog.models.find(({ publicName }) => publicName === model)?.routes.map(({ id }) => id) ?? [];
    if (routes.length === 0) continue;
    const tries = await readLastTries(database, routes);
    const last = routes.map((id) => tries.get(`${id} answers`));
    const failedAt = last.map((attempt) => (attempt?.state === 'failed' ? attempt.at : NaN));
    if (failedAt.every((at) => at >= startedAt && at <= endedAt))
      await confirmIncident(database, incident, Math.max(...failedAt));
  }
}

export function probeJobs(gateway: TrialSources): readonly JobDefinition[] {
  return [
    {
      name: 'probe-routes',
      description: 'Tries the routes that have not been tried for a while, as `probes` in gateway.yaml has it.',
      schedule: { every: interval },
      attempts: 1,
      async run(_data, host) {
        if (!host.section(probesSection).enabled) return;
        await using trials = await Trials.open(host, gateway);
        if (trials === undefined) return;
        await runDueProbes(host, trials);
        await probeState(host).read(host);
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
