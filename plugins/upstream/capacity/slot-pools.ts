import type { Catalog, Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { retryUntilDone } from '#core/platform/timing/backoff.ts';
import { CapacityPool, type PoolParts } from './pool.ts';

/** Limits for waiting requests: `queue` of the stage. */
export interface QueueOptions {
  readonly wait: number; // seconds
  readonly per_account: number;
  readonly total: number;
  /** True: a backup with a free slot is used immediately. False: only after the wait. */
  readonly prefer_backup: boolean;
}

const retriesMs = { first: 500, longest: 30_000 };

/** Slots of all upstreams that declare a capacity. Survives reloads, and so do the waiting requests. */
export class SlotPools implements AsyncDisposable {
  readonly #pools = new Map<string, CapacityPool>();
  readonly #parts: PoolParts;
  readonly #closing = new AbortController();
  readonly #subscription: Promise<(() => void) | undefined>;

  constructor(parts: PoolParts) {
    this.#parts = parts;
    this.#subscription = this.#subscribe();
  }

  /** Applies the limits of a new configuration. */
  configure({ upstreams }: Catalog, queue: QueueOptions): void {
    for (const upstream of upstreams) {
      const pool = this.of(upstream, queue);
      if (pool !== undefined) pool.limits = limitsOf(upstream, queue);
    }
  }

  /**
   * Undefined for an upstream without a declared capacity. The pool of an upstream that only a variant has is created by its first request.
   *
   * @param queue if given, a missing pool is created
   */
  of(upstream: Upstream, queue?: QueueOptions): CapacityPool | undefined {
    if (upstream.capacity === undefined) return undefined;
    const key = keyOf(upstream);
    const existing = this.#pools.get(key);
    if (existing !== undefined || queue === undefined) return existing;
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
    const poolsNamed = (name: string) => this.#pools.values().filter((pool) => pool.key === name);
    const subscribe = () =>
      store.onGrant(
        (name, ids) => {
          for (const pool of poolsNamed(name)) for (const id of ids) pool.grant(id);
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

/** An upstream with the same name but another base URL is a different one. */
function keyOf({ name, baseUrl }: Upstream): string {
  return `${name} ${baseUrl}`;
}

export function slotPoolsOf(host: Host): SlotPools {
  return host.keep('upstream/capacity', () => {
    const { log, shared } = host;
    return new SlotPools({ log, store: shared.slots, monotonic: () => host.monotonic() });
  });
}
