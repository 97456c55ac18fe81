import type { Catalog, Route, Upstream } from '#core/catalog/catalog.ts';
import { adapter, delivery } from '#core/facts.ts';
import type { Host } from '#core/host.ts';
import { defineStage } from '#core/pipeline/stage.ts';
import { notesHeaderName } from '#core/model-call/notes-header.ts';
import type { RouteStatus } from '#core/model-call/route-status.ts';
import { Connections } from './attempt/connections.ts';
import { type BreakerOptions, defaultBreaker } from './health/breaker.ts';
import { withEarlyHead } from './routing/early-head.ts';
import { KeyPool, type KnownKeys } from './keys/key-pool.ts';
import type { RelayParts } from './routing/relay-parts.ts';
import { Relay } from './routing/relay.ts';
import { RetryBudget } from './routing/retry-budget.ts';
import { RouteHealth } from './health/route-health.ts';

/**
 * Sends the request to the first route of its model that serves it.
 *
 * @throws GatewayError `upstream_rejected`, `rate_limited`, `upstream_failed`, `upstream_timeout`, `unavailable`
 */
export const upstreamStage = defineStage({
  name: 'upstream',
  description: 'Sends the request to the routes of its model, one after the other, until one serves.',
  reads: [adapter],
  writes: [delivery],
  options: {
    type: 'object',
    properties: {
      max_attempts: {
        type: 'integer',
        minimum: 1,
        maximum: 10,
        default: 3,
        description: 'Tries a request may have, over all routes and keys of its model.',
      },
      connect_timeout: {
        type: 'number',
        minimum: 0.1,
        maximum: 60,
        default: 5,
        description: 'Seconds to open a connection.',
      },
      first_byte_timeout: {
        type: 'number',
        minimum: 0.1,
        maximum: 3600,
        default: 60,
        description: 'Seconds until an upstream begins to answer; in a stream, until the first content.',
      },
      idle_timeout: {
        type: 'number',
        minimum: 0.1,
        maximum: 3600,
        default: 120,
        description: 'Seconds without a byte after which an answer that has begun is given up.',
      },
      deadline: {
        type: 'number',
        minimum: 1,
        maximum: 3600,
        default: 180,
        description:
          'Seconds for all tries together, until a whole answer is complete or a stream has its first content.',
      },
      keep_alive_after: {
        type: 'number',
        minimum: 0.1,
        maximum: 3600,
        default: 20,
        description:
          'Seconds without content after which the client of a stream gets its headers, so that nothing on the way gives up. Errors then come inside the stream.',
      },
      retry_share: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        default: 0.1,
        description: 'Further tries that all requests together may have, as a share of the requests.',
      },
      breaker: {
        type: 'object',
        default: {},
        description: 'When a route is left out, and for how long.',
        properties: {
          failures: {
            type: 'integer',
            minimum: 1,
            maximum: 1000,
            default: defaultBreaker.failures,
            description: 'Failures one after the other after which a route is left out.',
          },
          failure_ratio: {
            type: 'number',
            minimum: 0.01,
            maximum: 1,
            default: defaultBreaker.failureRatio,
            description: 'Share of failures after which a route is left out.',
          },
          minimum_calls: {
            type: 'integer',
            minimum: 1,
            maximum: 100_000,
            default: defaultBreaker.minimumCalls,
            description: 'Calls in the window without which the share does not count.',
          },
          window: {
            type: 'number',
            minimum: 1,
            maximum: 3600,
            default: defaultBreaker.window / 1000,
            description: 'Seconds over which the share is counted.',
          },
          cooldown: {
            type: 'number',
            minimum: 0.1,
            maximum: 3600,
            default: defaultBreaker.cooldown / 1000,
            description: 'Seconds until a route is tried again; twice as long each time that fails.',
          },
          longest_cooldown: {
            type: 'number',
            minimum: 0.1,
            maximum: 86_400,
            default: defaultBreaker.longestCooldown / 1000,
            description: 'Seconds that the pause may grow to.',
          },
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  },
  create(options, host) {
    const health = healthOf(host);
    const budget = host.keep('upstream/retry-budget', () => new RetryBudget(options.retry_share));
    const parts: RelayParts = {
      options: {
        maxAttempts: options.max_attempts,
        connectTimeout: options.connect_timeout,
        firstByteTimeout: options.first_byte_timeout,
        idleTimeout: options.idle_timeout,
        deadline: options.deadline,
      },
      connections: host.keep('upstream/connections', () => new Connections()),
      health,
      budget,
      keys: ({ upstream }: Route) => keysOf(upstream, host),
      log: host.log,
      notesHeader: notesHeaderName(host.service),
      now: () => host.now(),
    };
    return {
      timeout: longestWait(options, host.catalog),
      activate() {
        Object.assign(health.options, breakerOptions(options.breaker));
        health.follow(host.catalog.models.flatMap(({ routes }) => routes));
        health.onReset = (id) => resetKeys(id, host);
        budget.share = options.retry_share;
      },
      enter(exchange) {
        const { isStream } = exchange.find(adapter) ?? {};
        if (isStream === undefined) return;
        const relay = new Relay(parts, exchange);
        return () => (isStream ? withEarlyHead(relay.run(), options.keep_alive_after, exchange) : relay.run());
      },
    };
  },
});

interface BreakerSettings {
  readonly failures: number;
  readonly failure_ratio: number;
  readonly minimum_calls: number;
  readonly window: number;
  readonly cooldown: number;
  readonly longest_cooldown: number;
}

function breakerOptions(settings: BreakerSettings): BreakerOptions {
  return {
    failures: settings.failures,
    failureRatio: settings.failure_ratio,
    minimumCalls: settings.minimum_calls,
    window: settings.window * 1000,
    cooldown: settings.cooldown * 1000,
    longestCooldown: settings.longest_cooldown * 1000,
  };
}

/** What is known of the routes survives a reload. */
function healthOf(host: Host): RouteHealth {
  return host.keep('upstream/health', () => new RouteHealth(host, host.database.notifications));
}

/** Whoever lets a route in by hand has mended its keys, or knows that they are not to blame. */
function resetKeys(id: string, host: Host): void {
  const route = host.catalog.models.flatMap(({ routes }) => routes).find((candidate) => candidate.id === id);
  if (route !== undefined) keysOf(route.upstream, host).reset();
}

/** Every route of the catalog once, and whether it is left out at the moment. */
export function routeStatus(host: Host): RouteStatus[] {
  const health = healthOf(host);
  const routes = new Map(host.catalog.models.flatMap((model) => model.routes.map((route) => [route.id, route])));
  const coolingDown = (id: string) => {
    const { upstream, model } = routes.get(id) as Route;
    return keysOf(upstream, host).coolingDown(host.now(), model);
  };
  return health
    .status([...routes.values()])
    .map((status) => ({ ...status, keys_cooling_down: coolingDown(status.route) }));
}

const pools = new WeakMap<Upstream, KeyPool>();

/** The keys of an upstream of this catalog, with what was learned about them before a reload. */
export function keysOf(upstream: Upstream, host: Host): KeyPool {
  const known = pools.get(upstream);
  if (known !== undefined) return known;
  // The same name at another address is another upstream, whatever was said of its keys.
  const learned = host.keep(`upstream/keys/${upstream.name} ${upstream.baseUrl}`, () => new Map() as KnownKeys);
  const pool = new KeyPool(upstream, learned);
  pools.set(upstream, pool);
  return pool;
}

/** Seconds that a request may stand still here without a mistake of this stage, and some to report why. */
function longestWait(
  options: { readonly deadline: number; readonly idle_timeout: number },
  { models }: Pick<Catalog, 'models'>,
): number {
  const idle = models.flatMap(({ routes }) => routes.map((route) => route.idleTimeout ?? 0));
  return Math.max(options.deadline, options.idle_timeout, ...idle) + 30;
}
