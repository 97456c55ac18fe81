import { isIP } from 'node:net';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { Logger } from '#core/platform/logger.ts';
import { ConnectionPool } from './connection-pool.ts';
import { ConnectQueue } from './connect-queue.ts';

/**
 * Ms after which a connection takes no further requests; a running one may finish. Otherwise, steady traffic would keep using an address
 * that the upstream's name no longer resolves to. Opening a connection costs about 1 ms of CPU.
 */
const longestAge = 60_000;

/**
 * Ms that a connection rests after a response of an upstream that is not trusted yet. Surplus bytes sent right after a response arrive
 * within that time, and are not taken for the next response.
 */
const defaultRest = 20;

/** Ms after an unrequested response in which each request to the upstream gets its own connection. */
const suspicionMs = 3_600_000;

export interface ConnectionsOptions {
  readonly log?: Pick<Logger, 'warn'>;
  /** Ms; tests that inspect connections set 0. */
  readonly rest?: number;
}

/** Connection pools of all upstreams. They survive reloads: open connections are worth keeping, and exchanges in flight use them. */
export class Connections implements AsyncDisposable {
  readonly #options: ConnectionsOptions;
  readonly #pools = new Map<string, ConnectionPool>(); // by origin, connect timeout and server name
  readonly #retired = new Set<ConnectionPool>(); // closing; their last requests still run
  readonly #queues = new Map<string, ConnectQueue>();
  /** Origins that sent an unrequested response -> timer that removes them. */
  readonly #suspects = new Map<string, NodeJS.Timeout>();

  constructor(options: ConnectionsOptions = {}) {
    this.#options = options;
  }

  /** Attempts that wait for a connection to the origin. */
  queue(origin: string): ConnectQueue {
    const existing = this.#queues.get(origin);
    if (existing !== undefined) return existing;
    const queue = new ConnectQueue();
    this.#queues.set(origin, queue);
    return queue;
  }

  /**
   * @param connectTimeout seconds
   * @param serverName see `Target`
   */
  pool(origin: string, connectTimeout: number, serverName?: string): ConnectionPool {
    const name = `${origin} ${connectTimeout} ${serverName ?? ''}`;
    const existing = this.#pools.get(name);
    if (existing !== undefined) return existing;
    const pool = new ConnectionPool(origin, {
      rest: this.#options.rest ?? defaultRest,
      longestAge,
      connectTimeout,
      serverName,
      isReused: !this.#suspects.has(origin),
      onSurplus: () => this.#suspect(origin),
    });
    this.#pools.set(name, pool);
    return pool;
  }

  /**
   * Replaces a pool after one of its connections stopped responding: the network path may be broken, and with it every open connection. New
   * requests use new connections; requests in flight keep theirs.
   */
  replace(pool: Pick<ConnectionPool, 'dispatch'>): void {
    const name = this.#pools.entries().find(([, candidate]) => candidate === pool)?.[0];
    const retired = this.#pools.get(name ?? '');
    if (name === undefined || retired === undefined) return;
    this.#pools.delete(name);
    this.#retired.add(retired);
    const forget = () => this.#retired.delete(retired);
    retired.close().then(forget, forget);
  }

  /** A late response could be taken for the response to another customer's request. */
  #suspect(origin: string): void {
    if (this.#suspects.has(origin)) return;
    this.#options.log?.warn(
      `${origin} sent a response that no request asked for; for an hour, each request to it uses its own connection`,
    );
    const end = setTimeout(() => {
      this.#suspects.delete(origin);
      this.#replaceAll(origin);
    }, suspicionMs);
    this.#suspects.set(origin, end.unref());
    this.#replaceAll(origin);
  }

  #replaceAll(origin: string): void {
    for (const [name, pool] of this.#pools) if (name.startsWith(`${origin} `)) this.replace(pool);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#suspects.values()) clearTimeout(end);
    await Promise.all([...this.#pools.values(), ...this.#retired].map((pool) => pool.destroy()));
  }
}

interface Target {
  readonly origin: string;
  readonly path: string;
  /** Name expected in the upstream's certificate, if a configured Host header differs from the URL's host. */
  readonly serverName?: string;
}

const targets = new WeakMap<Route['upstream'], Target>();

/** Returns the origin and path of an upstream's base URL, parsed once. */
export function targetOf({ upstream }: Route): Target {
  const cached = targets.get(upstream);
  if (cached !== undefined) return cached;
  const { origin, pathname } = new URL(upstream.baseUrl);
  const host = Object.entries(upstream.headers).find(([name]) => name.toLowerCase() === 'host')?.[1];
  const serverName = host === undefined ? undefined : URL.parse(`https://${host}`)?.hostname;
  const target = {
    origin,
    path: pathname.replace(/\/$/, ''),
    ...(serverName !== undefined && isIP(serverName) === 0 && { serverName }),
  };
  targets.set(upstream, target);
  return target;
}
