import type { Dispatcher, Pool } from 'undici';
import { bounds } from '#core/bounds.ts';
import type { Route } from '#core/catalog/catalog.ts';
import { ConnectQueue } from './connect-queue.ts';
import { createConnector } from './connector.ts';
import { undici } from './undici.ts';

/**
 * Ms after which a connection takes no further request; a running one finishes. Steady traffic keeps connections in use
 * forever, and would stay at an address that the upstream's name has left. Opening one costs a millisecond of processor time.
 */
const longestAge = 60_000;

/**
 * The connection pools to upstreams. They outlive reloads: open connections are worth keeping, and exchanges in flight use
 * them.
 */
export class Connections implements AsyncDisposable {
  // At the start, not during the first request.
  readonly #Pool = undici().Pool;
  /** By origin and connect timeout. */
  readonly #pools = new Map<string, Pool>();
  /** Replaced pools whose last requests are still running. */
  readonly #retired = new Set<Pool>();
  readonly #queues = new Map<string, ConnectQueue>();

  /** The attempts that wait for a connection to an origin. */
  queue(origin: string): ConnectQueue {
    const known = this.#queues.get(origin);
    if (known !== undefined) return known;
    const queue = new ConnectQueue();
    this.#queues.set(origin, queue);
    return queue;
  }

  /** @param connectTimeout seconds */
  pool(origin: string, connectTimeout: number): Dispatcher {
    const name = `${origin} ${connectTimeout}`;
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const pool = new this.#Pool(origin, {
      connect: createConnector(connectTimeout),
      // Each attempt has its own exact, configurable timeouts; undici's are coarse.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 10_000,
      keepAliveMaxTimeout: 60_000,
      clientTtl: longestAge,
      maxHeaderSize: bounds.upstreamHead,
      pipelining: 1,
    });
    this.#pools.set(name, pool);
    return pool;
  }

  /**
   * Replaces a pool after one of its connections stopped responding: the network path may be broken, and with it every open
   * connection. Further requests use new connections; requests in flight keep theirs.
   */
  replace(pool: Dispatcher): void {
    const name = this.#pools.entries().find(([, known]) => known === pool)?.[0];
    const retired = this.#pools.get(name ?? '');
    if (name === undefined || retired === undefined) return;
    this.#pools.delete(name);
    this.#retired.add(retired);
    const forget = () => this.#retired.delete(retired);
    retired.close().then(forget, forget);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#pools.values(), ...this.#retired].map((pool) => pool.destroy()));
  }
}

export interface Target {
  readonly origin: string;
  /** Path of the base URL, without a trailing slash: `/v1`. */
  readonly path: string;
}

const targets = new WeakMap<Route['upstream'], Target>();

/** Origin and path of an upstream's base URL, parsed once. */
export function targetOf({ upstream }: Route): Target {
  const known = targets.get(upstream);
  if (known !== undefined) return known;
  const { origin, pathname } = new URL(upstream.baseUrl);
  const target = { origin, path: pathname.replace(/\/$/, '') };
  targets.set(upstream, target);
  return target;
}
