import { hash } from 'node:crypto';
import type { Catalog, Route, Upstream } from '#core/config/catalog/catalog.ts';
import type { Gauge } from '#core/gateway/health/gauge.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { getKeyClosures } from '#core/gateway/model-call/key-closures.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { createTokenReader } from './credentials/read-token.ts';
import { TokenSource } from './credentials/token-source.ts';
import { RouteHealth } from './health/route-health.ts';
import { KeyPool, type PooledKeys } from './routing/key-pool.ts';

export function getRouteHealth(host: Host): RouteHealth {
  return host.keep('upstream/health', () => {
    const health = new RouteHealth(host, host.database.notifications);
    health.onChange = () => publishLive(host, 'health');
    return health;
  });
}

const keyPools = new WeakMap<Upstream, KeyPool>();

export function getKeyPool(upstream: Upstream, host: Host): KeyPool {
  const existing = keyPools.get(upstream);
  if (existing !== undefined) return existing;
  // Includes the base URL, because an upstream at a different address has its own keys, even under the same name.
  const { name, healthName = name, baseUrl } = upstream;
  const keptKeys = host.keep(`upstream/keys/${healthName} ${baseUrl}`, () => new Map() as PooledKeys);
  const pool = new KeyPool(upstream, keptKeys, getKeyClosures(host));
  keyPools.set(upstream, pool);
  return pool;
}

const tokenSources = new WeakMap<Upstream, TokenSource>();

/** A reload keeps the source unless the credentials have changed. */
export function getTokenSource(upstream: Upstream, host: Host): TokenSource {
  const existing = tokenSources.get(upstream);
  if (existing !== undefined) return existing;
  const { credentials = {} } = upstream;
  const digest = hash('sha256', JSON.stringify(credentials), 'hex');
  const source = host.keep(`upstream/tokens/${digest}`, () => new TokenSource(createTokenReader(credentials), host));
  tokenSources.set(upstream, source);
  return source;
}

/** Ends the cooldowns of a route's keys: an operator who resets a route has fixed the keys or knows that they are valid. */
export function resetKeys(id: string, host: Host): void {
  const route = host.catalog.models.flatMap(({ routes }) => routes).find((candidate) => candidate.id === id);
  if (route !== undefined) getKeyPool(route.upstream, host).reset();
}

const routesByCatalog = new WeakMap<Catalog, readonly Route[]>();

function listRoutes({ catalog }: Host): readonly Route[] {
  let routes = routesByCatalog.get(catalog);
  if (routes === undefined) {
    routes = [...new Map(catalog.models.flatMap((model) => model.routes.map((route) => [route.id, route]))).values()];
    routesByCatalog.set(catalog, routes);
  }
  return routes;
}

/** Called for each page of models, and there may be thousands of routes. */
export function readRouteStatuses(host: Host): RouteStatus[] {
  const health = getRouteHealth(host);
  const monotonic = host.monotonic();
  const now = host.now();
  return listRoutes(host).map((route) => {
    const keys = getKeyPool(route.upstream, host);
    const closed = keys.countClosed(monotonic);
    return {
      ...health.getStatus(route, monotonic, now),
      keys_cooling_down: keys.countCoolingDown(monotonic, route.model),
      ...(closed > 0 && { keys_closed: closed }),
    };
  });
}

const stateNumbers: Readonly<Record<RouteStatus['state'], number>> = { closed: 0, half_open: 1, open: 2, no_model: 3 };

function createKeyGauge(name: string, description: string, count: (keys: KeyPool, now: number) => number): Gauge {
  return {
    name,
    description,
    labels: ['upstream'],
    read: (host) =>
      host.catalog.upstreams
        .filter(({ isEnabled }) => isEnabled)
        .map((upstream) => ({
          value: count(getKeyPool(upstream, host), host.monotonic()),
          labels: { upstream: upstream.name },
        })),
  };
}

export const routeGauges: readonly Gauge[] = [
  {
    name: 'route_state',
    description:
      'Breaker of a route: 0 closed, 1 half-open (the next request is the probe), 2 open, 3 model not found on the route (tried last).',
    labels: ['route'],
    read: (host) =>
      readRouteStatuses(host).map(({ route, state }) => ({ value: stateNumbers[state], labels: { route } })),
  },
  createKeyGauge('upstream_keys', 'API keys of an upstream; 1 if it is called without a key.', ({ size }) => size),
  createKeyGauge(
    'upstream_keys_cooling_down',
    'API keys of an upstream in cooldown: throttled, rejected or out of credit.',
    (keys, now) => keys.countCoolingDown(now),
  ),
  createKeyGauge(
    'upstream_keys_refused',
    'API keys of an upstream in cooldown because it rejected them, or they are out of credit.',
    (keys, now) => keys.countRejected(now),
  ),
  createKeyGauge('upstream_keys_closed', 'API keys of an upstream that their vendor has closed.', (keys, now) =>
    keys.countClosed(now),
  ),
];
