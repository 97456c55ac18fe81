import type { ModelCheckup, ReadCheckups } from '#core/business/model-health/readings.ts';
import { cacheReading } from '#core/gateway/host/host.ts';
import { probesSection } from './section.ts';
import { type ProbedRoute, readProbedRoutes } from './state.ts';

const maxCheckupAgeMs = 60_000; // routes are usually probed once a day

const checkupReading = cacheReading({ maxAgeMs: maxCheckupAgeMs, timeoutMs: 2_000, maxWaitMs: 1_000 }, async (host) =>
  summarizeChecks(await readProbedRoutes(host)),
);

export const readCheckups: ReadCheckups = async (host) => {
  const { enabled, publish } = host.section(probesSection);
  return enabled && publish ? checkupReading(host).get() : new Map();
};

/** A model passes only if all its routes pass, since any of them may serve it. Inconclusive results are ignored. */
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
