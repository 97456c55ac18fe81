import { isIP } from 'node:net';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { Logger } from '#core/platform/logger.ts';
import { ConnectQueue } from './connect-queue.ts';
import { ConnectionPool } from './connection-pool.ts';

/**
 * Connections older than this take no further requests; a request in flight may finish. Otherwise, steady traffic would keep using an
 * address to which the upstream's name no longer resolves. Opening a connection costs about 1 ms of CPU.
 */
const maxAgeMs = 60_000;

/**
 * How long a connection stays unused after a checked response. Surplus bytes usually follow a response within this time, so they are not
 * mistaken for the next one.
 */
const defaultQuarantineMs = 20;

const suspectMs = 3_600_000; // how long each request gets its own connection after an unrequested response

export interface ConnectionsOptions {
  readonly log?: Pick<Logger, 'warn'>;
  /** Default: 20. Tests that inspect connections set 0. */
  readonly quarantineMs?: number;
}

/** Connection pools of all upstreams. They survive reloads, because opening connections is expensive and exchanges in flight use them. */
export class Connections implements AsyncDisposable {
  readonly #options: ConnectionsOptions;
  readonly #pools = new Map<string, ConnectionPool>(); // by origin, connect timeout and server name
  readonly #closingPools = new Set<ConnectionPool>(); // with requests in flight
  readonly #connectQueues = new Map<string, ConnectQueue>();
  /** By the origin that sent an unrequested response. */
  readonly #suspectTimers = new Map<string, NodeJS.Timeout>();

  constructor(options: ConnectionsOptions = {}) {
    this.#options = options;
  }

  getQueue(origin: string): ConnectQueue {
    const existing = this.#connectQueues.get(origin);
    if (existing !== undefined) return existing;
    const queue = new ConnectQueue();
    this.#connectQueues.set(origin, queue);
    return queue;
  }

  /** @param connectTimeout seconds */
  getPool(origin: string, connectTimeout: number, serverName?: string): ConnectionPool {
    const key = `${origin} ${connectTimeout} ${serverName ?? ''}`;
    const existing = this.#pools.get(key);
    if (existing !== undefined) return existing;
    const pool = new ConnectionPool(origin, {
      quarantineMs: this.#options.quarantineMs ?? defaultQuarantineMs,
      maxAgeMs,
      connectTimeoutSeconds: connectTimeout,
      serverName,
      isPersistent: !this.#suspectTimers.has(origin),
      onSurplus: () => this.#markSuspect(origin),
    });
    this.#pools.set(key, pool);
    return pool;
  }

  /**
   * Replaces a pool in which a connection stopped responding, because the network path of all its connections may be broken. New requests
   * use new connections; requests in flight keep theirs.
   */
  replace(pool: Pick<ConnectionPool, 'dispatch'>): void {
    const key = this.#pools.entries().find(([, candidate]) => candidate === pool)?.[0];
    const closingPool = this.#pools.get(key ?? '');
    if (key === undefined || closingPool === undefined) return;
    this.#pools.delete(key);
    this.#closingPools.add(closingPool);
    const forget = () => this.#closingPools.delete(closingPool);
    closingPool.close().then(forget, forget);
  }

  #markSuspect(origin: string): void {
    // A late response could be taken for the response to another customer's request.
    if (this.#suspectTimers.has(origin)) return;
    this.#options.log?.warn(
      `${origin} sent a response that no request asked for; for an hour, each request to it uses its own connection`,
    );
    const timer = setTimeout(() => {
      this.#suspectTimers.delete(origin);
      this.#replaceAll(origin);
    }, suspectMs);
    this.#suspectTimers.set(origin, timer.unref());
    this.#replaceAll(origin);
  }

  #replaceAll(origin: string): void {
    for (const [name, pool] of this.#pools) if (name.startsWith(`${origin} `)) this.replace(pool);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#suspectTimers.values()) clearTimeout(timer);
    await Promise.all([...this.#pools.values(), ...this.#closingPools].map((pool) => pool.destroy()));
  }
}

interface Target {
  readonly origin: string;
  readonly path: string;
  readonly serverName?: string; // in the certificate, if a configured Host header differs from the URL's host
}

const targets = new WeakMap<Route['upstream'], Target>();

export function getTarget({ upstream }: Route): Target {
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
