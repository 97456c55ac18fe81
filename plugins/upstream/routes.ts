import type { Route, Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { RouteHealth } from './health/route-health.ts';
import { KeyPool, type KnownKeys } from './keys/key-pool.ts';

/** The health of all routes; survives reloads. */
export function healthOf(host: Host): RouteHealth {
  return host.keep('upstream/health', () => {
    const health = new RouteHealth(host, host.database.notifications);
    health.onChange = () => publishLive(host, 'health');
    return health;
  });
}

const pools = new WeakMap<Upstream, KeyPool>();

/** The keys of an upstream in this catalog, with what was learned about them before a reload. */
export function keysOf(upstream: Upstream, host: Host): KeyPool {
  const known = pools.get(upstream);
  if (known !== undefined) return known;
  // The same name with another base URL is another upstream.
  const learned = host.keep(`upstream/keys/${upstream.name} ${upstream.baseUrl}`, () => new Map() as KnownKeys);
  const pool = new KeyPool(upstream, learned);
  pools.set(upstream, pool);
  return pool;
}

/** Ends the cooldowns of a route's keys: the operator who resets a route has fixed them, or knows that they are valid. */
export function resetKeys(id: string, host: Host): void {
  const route = host.catalog.models.flatMap(({ routes }) => routes).find((candidate) => candidate.id === id);
  if (route !== undefined) keysOf(route.upstream, host).reset();
}

/** Every route of the catalog once, with its breaker and its keys in a cooldown. */
export function routeStatus(host: Host): RouteStatus[] {
  const routes = new Map(host.catalog.models.flatMap((model) => model.routes.map((route) => [route.id, route])));
  return healthOf(host)
    .status([...routes.values()])
    .map((status) => {
      const { upstream, model } = routes.get(status.route) as Route;
      return { ...status, keys_cooling_down: keysOf(upstream, host).coolingDown(host.monotonic(), model) };
    });
}
