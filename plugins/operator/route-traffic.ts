import type { Database } from '#core/platform/database/database.ts';
import { quantile } from '#core/gateway/records/latency-histogram.ts';
import { readRouteUsage, type RouteUsage } from '#core/gateway/records/route-usage.ts';
import { readUsage, calculateCacheShares, startOfHours } from '#core/gateway/records/usage.ts';

/** Recent traffic of a route. */
export interface RouteTraffic extends RouteUsage {
  /** Served requests by the public name of the model; attempts are counted per route only. */
  readonly models: ReadonlyMap<string, ServedModel>;
}

/** Requests for a model that were served by a route. */
export interface ServedModel {
  readonly requests: number;
  /** Median ms to the first content; undefined without any. */
  readonly firstTokenMs: number | undefined;
  /** Shares of the input that the vendor's cache read and wrote. */
  readonly cache: ReturnType<typeof calculateCacheShares>;
}

/** Hours of traffic shown, including the current one: attempts are counted by hour. */
const hours = 2;

export interface RecentRoutes {
  /** Start of the first hour, epoch ms. */
  readonly since: number;
  readonly routes: ReadonlyMap<string, RouteTraffic>;
}

/** @param now epoch ms */
export async function readRouteTraffic(database: Pick<Database, 'query'>, now: number): Promise<RecentRoutes> {
  const since = startOfHours(now, hours);
  const [attempts, usage] = await Promise.all([
    readRouteUsage(database, { since }),
    readUsage(database, { since }, ['route', 'model']),
  ]);
  const served = Map.groupBy(usage, ({ route }) => route);
  const modelsOf = (route: string) =>
    new Map(
      (served.get(route) ?? []).flatMap(({ model, requests, firstContent, ...counts }) => {
        const firstTokenMs = quantile(firstContent, 0.5);
        return model === null
          ? []
          : [[model, { requests, firstTokenMs, cache: calculateCacheShares(counts) }] as const];
      }),
    );
  const routes = attempts.map((one) => [one.route, { ...one, models: modelsOf(one.route) }] as const);
  return { since, routes: new Map(routes) };
}
