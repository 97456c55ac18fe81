import { quantile } from '#core/gateway/records/latency-histogram.ts';
import { readRouteUsage, type RouteUsage } from '#core/gateway/records/route-usage.ts';
import { readUsage, calculateCacheShares, startOfHours } from '#core/gateway/records/usage.ts';
import type { Queries } from '#core/platform/database/database.ts';

export interface RouteTraffic extends RouteUsage {
  /** Served requests by the model's public name. Attempts are counted per route only. */
  readonly models: ReadonlyMap<string, ServedModel>;
}

export interface ServedModel {
  readonly requests: number;
  /** Median ms to the first content; undefined if it was never measured. */
  readonly firstTokenMs: number | undefined;
  readonly cache: ReturnType<typeof calculateCacheShares>;
}

const trafficHours = 2; // including the current hour

export interface RecentRoutes {
  readonly since: number; // start of the first hour, epoch ms
  readonly routes: ReadonlyMap<string, RouteTraffic>;
}

export async function readRouteTraffic(database: Queries, now: number): Promise<RecentRoutes> {
  const since = startOfHours(now, trafficHours);
  const [attempts, usage] = await Promise.all([
    readRouteUsage(database, { since }),
    readUsage(database, { since }, ['route', 'model']),
  ]);
  const usageByRoute = Map.groupBy(usage, ({ route }) => route);
  const modelsOf = (route: string) =>
    new Map(
      (usageByRoute.get(route) ?? []).flatMap(({ model, requests, firstContent, ...counts }) => {
        const firstTokenMs = quantile(firstContent, 0.5);
        return model === null
          ? []
          : [[model, { requests, firstTokenMs, cache: calculateCacheShares(counts) }] as const];
      }),
    );
  const routes = attempts.map((attempt) => [attempt.route, { ...attempt, models: modelsOf(attempt.route) }] as const);
  return { since, routes: new Map(routes) };
}
