import { isIP } from 'node:net';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { Logger } from '#core/platform/logger.ts';
import { ConnectionPool } from './connection-pool.ts';
import { ConnectQueue } from './connect-queue.ts';

/**
 * Ms after which a connection takes no further request; a running one finishes. Without it, steady traffic would keep using an
 * address that the upstream's name no longer resolves to. Opening a connection costs a millisecond of processor time.
 */
const longestAge = 60_000;

/**
 * Ms that a connection rests after an answer of an upstream that has not proven itself. Bytes that an upstream sends right
 * behind an answer arrive in that time, and not as the answer to another request.
 */
const defaultRest = 20;

/** After an unrequested response, each request to the upstream gets its own connection this long. */
const suspicionMs = 3_600_000;

export interface ConnectionsOptions {
  readonly log?: Pick<Logger, 'warn'>;
  /** Ms; tests that look at connections give 0. */
  readonly rest?: number;
}

/**
 * The connection pools to upstreams. They outlive reloads: open connections are worth keeping, and exchanges in flight use
 * them.
 */
export class Connections implements AsyncDisposable {
  readonly #options: ConnectionsOptions;
  readonly #pools = new Map<string, ConnectionPool>(); // by origin, connect timeout and server name
  readonly #retired = new Set<ConnectionPool>(); // their last requests are still running
  readonly #queues = new Map<string, ConnectQueue>();
  /** Origins that sent an unrequested response, with the timer that clears them. */
  readonly #suspects = new Map<string, NodeJS.Timeout>();

  constructor(options: ConnectionsOptions = {}) {
    this.#options = options;
  }

  /** The attempts that wait for a connection to an origin. */
  queue(origin: string): ConnectQueue {
    const known = this.#queues.get(origin);
    if (known !== undefined) return known;
    const queue = new ConnectQueue();
    this.#queues.set(origin, queue);
    return queue;
  }

  /** @param connectTimeout seconds @param serverName as `Target` has it */
  pool(origin: string, connectTimeout: number, serverName?: string): ConnectionPool {
    const name = `${origin} ${connectTimeout} ${serverName ?? ''}`;
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
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
   * Replaces a pool after one of its connections stopped responding: the network path may be broken, and with it every open
   * connection. Further requests use new connections; requests in flight keep theirs.
   */
  replace(pool: Pick<ConnectionPool, 'dispatch'>): void {
    const name = this.#pools.entries().find(([, known]) => known === pool)?.[0];
    const retired = this.#pools.get(name ?? '');
    if (name === undefined || retired === undefined) return;
    this.#pools.delete(name);
    this.#retired.add(retired);
    const forget = () => this.#retired.delete(retired);
    retired.close().then(forget, forget);
  }

  /** A late response could be taken for that of another request, with another customer's text. */
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
  /** Name that the upstream's certificate must have, if a configured Host header differs from the URL's host. */
  readonly serverName?: string;
}

const targets = new WeakMap<Route['upstream'], Target>();

/** Origin and path of an upstream's base URL, parsed once. */
export function targetOf({ upstream }: Route): Target {
  const known = targets.get(upstream);
  if (known !== undefined) return known;
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
