import type { ModelCheckup, ReadCheckups } from '#core/business/model-health/readings.ts';
import { cacheReading } from '#core/gateway/host/host.ts';
import { probesSection } from './section.ts';
import { type ProbedRoute, readProbedRoutes } from './state.ts';

/** Cache lifetime of checkups. Routes are usually probed once a day. */
const maxCheckupAgeMs = 60_000;

const checkupReading = cacheReading({ maxAgeMs: maxCheckupAgeMs, timeoutMs: 2_000, maxWaitMs: 1_000 }, async (host) =>
  summarizeChecks(await readProbedRoutes(host)),
);

/** Reads the checkups for the status page; empty unless operators publish them. */
export const readCheckups: ReadCheckups = async (host) => {
  const { enabled, publish } = host.section(probesSection);
  return enabled && publish ? checkupReading(host).get() : new Map();
};

/** Summarizes checks by model. A model passes only if all its routes pass, since any of them may serve it. Ignores inconclusive results. */
export function summarizeChecks(routes: readonly ProbedRoute[]): ReadonlyMap<string, ModelCheckup> {
  const checkups = [...Map.groupBy(routes, ({ model }) => model)].flatMap(([model, modelRoutes]) => {
    const results = modelRoutes
      .flatMap(({ results: routeResults }) => routeResults)
      .filter(({ state }) => state !== 'unknown');
    if (results.length === 0) return [];
    const isCompared = results.some(({ check }) => check === 'fingerprint');
    const checkup: ModelCheckup = {
      at: Math.max(...results.map(({ startedAt }) => +startedAt)),
      isPassed: modelRoutes.every(({ drifted }) => drifted.length === 0),
      isSameModel: isCompared ? modelRoutes.every(({ changed }) => changed === undefined) : undefined,
    };
    return [[model, checkup] as const];
  });
  return new Map(checkups);
}
