import type { Catalog, Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { retryUntilDone } from '#core/platform/timing/backoff.ts';
import { CapacityPool, type PoolParts } from './pool.ts';

/** Limits for waiting requests: the stage's `queue` setting. */
export interface QueueOptions {
  readonly wait: number; // seconds
  readonly per_account: number;
  readonly total: number;
  /** If a backup has a free slot: true to use it immediately, false to use it only after the wait. */
  readonly prefer_backup: boolean;
}

/** Slots of all upstreams that declare a capacity. Pools and their waiting requests survive reloads. */
export class SlotPools implements AsyncDisposable {
  readonly #pools = new Map<string, CapacityPool>();
  readonly #parts: PoolParts;
  readonly #closing = new AbortController();
  readonly #subscription: Promise<(() => void) | undefined>;

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.#subscription = this.#subscribe();
  }

  configure({ upstreams }: Catalog, queue: QueueOptions): void {
    for (const upstream of upstreams) {
      const pool = this.getOrCreate(upstream, queue);
      if (pool !== undefined) pool.limits = createPoolLimits(upstream, queue);
    }
  }

  find(upstream: Upstream): CapacityPool | undefined {
    return this.#pools.get(createKey(upstream));
  }

  /** An upstream that occurs only in a variant gets its pool with its first request. */
  getOrCreate(upstream: Upstream, queue: QueueOptions): CapacityPool | undefined {
    if (upstream.capacity === undefined) return undefined;
    const existing = this.find(upstream);
    if (existing !== undefined) return existing;
    const key = createKey(upstream);
    const pool = new CapacityPool(upstream.name, key, createPoolLimits(upstream, queue), this.#parts);
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
    const subscribe = () =>
      store.onGrant(
        (key, ids) => {
          const pool = this.#pools.get(key);
          if (pool !== undefined) for (const id of ids) pool.grant(id);
        },
        () => {
          for (const pool of this.#pools.values()) pool.startBeat();
        },
      );
    const onFailure = (error: unknown, failures: number) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (failures === 0) log.warn(`cannot receive slots that other instances free; retrying: ${reason}`);
    };
    return retryUntilDone(subscribe, { signal: this.#closing.signal, onFailure });
  }
}

function createPoolLimits({ capacity }: Upstream, queue: QueueOptions) {
  const { concurrent = Infinity, requests = Infinity, period: periodMs = 60_000 } = capacity ?? {};
  return { concurrent, requests, periodMs, waitingByAccount: queue.per_account, waiting: queue.total };
}

function createKey({ name, baseUrl }: Upstream): string {
  // An upstream at a different address has its own slots, even under the same name.
  return `${name} ${baseUrl}`;
}

export function getSlotPools(host: Host): SlotPools {
  return host.keep('upstream/capacity', () => {
    const { log, shared } = host;
    return new SlotPools({ log, store: shared.slots, monotonic: () => host.monotonic() });
  });
}
