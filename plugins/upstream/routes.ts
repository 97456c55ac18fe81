import { hash } from 'node:crypto';
import type { Gauge } from '#core/gateway/health/gauge.ts';
import type { Catalog, Route, Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { getKeyClosures } from '#core/gateway/model-call/key-closures.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { tokenReader } from './credentials/read-token.ts';
import { TokenSource } from './credentials/token-source.ts';
import { RouteHealth } from './health/route-health.ts';
import { KeyPool, type KnownKeys } from './routing/key-pool.ts';

/** Returns the health of all routes; survives reloads. */
export function healthOf(host: Host): RouteHealth {
  return host.keep('upstream/health', () => {
    const health = new RouteHealth(host, host.database.notifications);
    health.onChange = () => publishLive(host, 'health');
    return health;
  });
}

const pools = new WeakMap<Upstream, KeyPool>();

/** Returns the keys of an upstream in this catalog, with the state from before a reload. */
export function keysOf(upstream: Upstream, host: Host): KeyPool {
  const existing = pools.get(upstream);
  if (existing !== undefined) return existing;
  // An upstream with the same name but another base URL is a different one.
  const { name, healthName = name, baseUrl } = upstream;
  const learned = host.keep(`upstream/keys/${healthName} ${baseUrl}`, () => new Map() as KnownKeys);
  const pool = new KeyPool(upstream, learned, getKeyClosures(host));
  pools.set(upstream, pool);
  return pool;
}

const sources = new WeakMap<Upstream, TokenSource>();

/** Returns the tokens of an upstream with credentials. A reload keeps them unless the credentials changed. */
export function tokensOf(upstream: Upstream, host: Host): TokenSource {
  const existing = sources.get(upstream);
  if (existing !== undefined) return existing;
  const { credentials = {} } = upstream;
  const digest = hash('sha256', JSON.stringify(credentials), 'hex');
  const source = host.keep(`upstream/tokens/${digest}`, () => new TokenSource(tokenReader(credentials), host));
  sources.set(upstream, source);
  return source;
}

/** Ends the cooldowns of a route's keys: the operator who resets a route fixed the keys, or knows that they are valid. */
export function resetKeys(id: string, host: Host): void {
  const route = host.catalog.models.flatMap(({ routes }) => routes).find((candidate) => candidate.id === id);
  if (route !== undefined) keysOf(route.upstream, host).reset();
}

const routesIn = new WeakMap<Catalog, readonly Route[]>();

function routesOf({ catalog }: Host): readonly Route[] {
  let routes = routesIn.get(catalog);
  if (routes === undefined) {
    routes = [...new Map(catalog.models.flatMap((model) => model.routes.map((route) => [route.id, route]))).values()];
    routesIn.set(catalog, routes);
  }
  return routes;
}

/** Status of every route in the catalog, including cooldowns of its keys. Read for each page of models, of which there may be thousands. */
export function routeStatus(host: Host): RouteStatus[] {
  const health = healthOf(host);
  const monotonic = host.monotonic();
  const now = host.now();
  return routesOf(host).map((route) => {
    const keys = keysOf(route.upstream, host);
    const closed = keys.countClosed(monotonic);
    return {
      ...health.statusOf(route, monotonic, now),
      keys_cooling_down: keys.coolingDown(monotonic, route.model),
      ...(closed > 0 && { keys_closed: closed }),
    };
  });
}

const stateNumbers: Readonly<Record<RouteStatus['state'], number>> = { closed: 0, half_open: 1, open: 2, no_model: 3 };

function keyGauge(name: string, description: string, count: (keys: KeyPool, now: number) => number): Gauge {
  return {
    name,
    description,
    labels: ['upstream'],
    read: (host) =>
      host.catalog.upstreams
        .filter(({ isEnabled }) => isEnabled)
        .map((upstream) => ({
          value: count(keysOf(upstream, host), host.monotonic()),
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
    read: (host) => routeStatus(host).map(({ route, state }) => ({ value: stateNumbers[state], labels: { route } })),
  },
  keyGauge('upstream_keys', 'API keys of an upstream; 1 for one that is called without a key.', ({ size }) => size),
  keyGauge(
    'upstream_keys_cooling_down',
    'API keys of an upstream in cooldown: throttled, rejected or out of credit.',
    (keys, now) => keys.coolingDown(now),
  ),
  keyGauge(
    'upstream_keys_refused',
    'API keys of an upstream in cooldown because it rejected them, or they are out of credit.',
    (keys, now) => keys.countRefused(now),
  ),
  keyGauge('upstream_keys_closed', 'API keys of an upstream that their vendor has closed.', (keys, now) =>
    keys.countClosed(now),
  ),
];
