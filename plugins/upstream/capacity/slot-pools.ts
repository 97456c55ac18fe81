import type { Catalog, Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { retryUntilDone } from '#core/platform/timing/backoff.ts';
import { CapacityPool, type PoolParts } from './pool.ts';

/** Limits of waiting for a slot: `queue` of the stage. */
export interface QueueOptions {
  readonly wait: number; // seconds
  readonly per_account: number;
  readonly total: number;
  /** True: a backup with room is asked at once. False: it is asked when the wait is over. */
  readonly prefer_backup: boolean;
}

const retriesMs = { first: 500, longest: 30_000 };

/** The slots of all upstreams that declare a capacity. Outlives reloads, and with it the requests that wait. */
export class SlotPools implements AsyncDisposable {
  readonly #pools = new Map<string, CapacityPool>();
  readonly #parts: PoolParts;
  readonly #closing = new AbortController();
  readonly #subscription: Promise<(() => void) | undefined>;

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.#subscription = this.#subscribe();
  }

  /** Follows the upstreams of a configuration that serves from now on. */
  configure({ upstreams }: Catalog, queue: QueueOptions): void {
    for (const upstream of upstreams) {
      const pool = this.of(upstream, queue);
      if (pool !== undefined) pool.limits = limitsOf(upstream, queue);
    }
  }

  /**
   * Undefined for an upstream that declares none. A pool that no serving configuration has, but a variant, begins with its first request.
   *
   * @param queue makes the pool where it is missing
   */
  of(upstream: Upstream, queue?: QueueOptions): CapacityPool | undefined {
    if (upstream.capacity === undefined) return undefined;
    const key = keyOf(upstream);
    const known = this.#pools.get(key);
    if (known !== undefined || queue === undefined) return known;
    const pool = new CapacityPool(upstream.name, key, limitsOf(upstream, queue), this.#parts);
    this.#pools.set(key, pool);
    return pool;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const pool of this.#pools.values()) pool[Symbol.dispose]();
    (await this.#subscription)?.();
  }

  #subscribe(): Promise<(() => void) | undefined> {
    const { store, log } = this.#parts;
    if (store === undefined) return Promise.resolve(undefined);
    const byName = (name: string) => this.#pools.values().filter((pool) => pool.key === name);
    const subscribe = () =>
      store.onGrant(
        (name, ids) => {
          for (const pool of byName(name)) for (const id of ids) pool.grant(id);
        },
        () => {
          for (const pool of this.#pools.values()) pool.beatSoon();
        },
      );
    const onFailure = (error: unknown, failures: number) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (failures === 0) log.warn(`cannot receive slots that other instances free; retrying: ${reason}`);
    };
    return retryUntilDone(subscribe, { range: retriesMs, signal: this.#closing.signal, onFailure });
  }
}

function limitsOf({ capacity }: Upstream, queue: QueueOptions) {
  const { concurrent = Infinity, requests = Infinity, period = 60_000 } = capacity ?? {};
  return { concurrent, requests, period, waitingByAccount: queue.per_account, waiting: queue.total };
}

/** The same name with another base URL is another upstream. */
function keyOf({ name, baseUrl }: Upstream): string {
  return `${name} ${baseUrl}`;
}

export function slotPoolsOf(host: Host): SlotPools {
  return host.keep('upstream/capacity', () => {
    const { log, shared } = host;
    return new SlotPools({ log, store: shared.slots, monotonic: () => host.monotonic() });
  });
}
