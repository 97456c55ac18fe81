import type { Logger } from '#core/platform/logger.ts';
import { MemoryLimiter } from '#core/platform/shared/memory.ts';
import { type Limiter, type Limits, SharedUnavailable, type Take } from '#core/platform/shared/shared.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';

const warnIntervalMs = 60_000;

/**
 * Limits with the shared store, or within this instance while the store is unavailable. Each instance then grants its share of the limit,
 * starting from what the store last reported for the key. The store decides when to retry; while it is down, its calls fail immediately.
 */
export class LocalFallback implements Limiter {
  readonly #shared: Limiter;
  readonly #local: MemoryLimiter;
  readonly #log: Logger;
  readonly #warning = new Throttle(warnIntervalMs);
  readonly #waiting = new Map<string, number>(); // requests waiting for the store's decision, by key
  #isWarned = false;

  /** @param now ms of a monotonic clock */
  constructor(shared: Limiter, log: Logger, now: () => number) {
    this.#shared = shared;
    this.#local = new MemoryLimiter(now);
    this.#log = log;
  }

  get instances(): number {
    return this.#shared.instances;
  }

  take(key: string, limits: Limits): Take | Promise<Take> {
    return this.#callShared('take', key, limits);
  }

  peek(key: string, limits: Limits): Take | Promise<Take> {
    return this.#callShared('peek', key, limits);
  }

  /** One limiter granted the slot, the other mirrored it. */
  release(key: string, lease: string): void {
    this.#shared.release(key, lease);
    this.#local.release(key, lease);
  }

  #callShared(call: 'take' | 'peek', key: string, limits: Limits): Take | Promise<Take> {
    let isLocal = false;
    let isWaiting = false;
    const getShare = () => divideLimits(limits, this.#shared.instances);
    const takeLocally = () => this.#local[call](key, getShare());
    // A slow store counts the request anyway, so the local share may let it pass early, but only the store may reject it.
    const fallback = () => {
      // A store known to be slow calls this function before it returns.
      if (call === 'take' && !this.#hasRoom(key, getShare(), isWaiting ? 0 : 1)) return undefined;
      const take = takeLocally();
      isLocal = take.refusedBy === undefined;
      if (isLocal && isWaiting) this.#changeWaiting(key, -1);
      return isLocal ? take : undefined;
    };
    const take = this.#shared[call](key, limits, fallback);
    if (!(take instanceof Promise)) return take;
    isWaiting = !isLocal;
    if (isWaiting) this.#changeWaiting(key, 1);
    return take.then(
      (sharedTake) => {
        if (isLocal) return sharedTake;
        this.#changeWaiting(key, -1);
        this.#mirror(key, sharedTake);
        return sharedTake;
      },
      (error: unknown) => {
        this.#changeWaiting(key, -1);
        this.#warn(error);
        return takeLocally();
      },
    );
  }

  /**
   * Returns true if at least half of the share would be left after all waiting requests. Other instances may have used more of the limit
   * than this instance has seen, so a key close to its limit waits until the store responds or is down.
   *
   * @param more requests that are not waiting yet
   */
  #hasRoom(key: string, share: Limits, more: number): boolean {
    if (this.#shared.instances <= 1) return true;
    const { remaining } = this.#local.peek(key, share);
    return remaining - (this.#waiting.get(key) ?? 0) - more >= share.burst / 2;
  }

  #changeWaiting(key: string, change: 1 | -1): void {
    const count = (this.#waiting.get(key) ?? 0) + change;
    if (count > 0) this.#waiting.set(key, count);
    else this.#waiting.delete(key);
  }

  #mirror(key: string, take: Take): void {
    this.#local.adopt(key, take);
    if (this.#isWarned) this.#log.info('rate limits are shared between instances again');
    this.#isWarned = false;
  }

  #warn(error: unknown): void {
    if (!(error instanceof SharedUnavailable)) throw error;
    if (!this.#warning.tryPass()) return;
    this.#isWarned = true;
    this.#log.warn(`rate limits apply to each instance separately: ${error.message}`);
  }
}

/** Each instance grants at least one request. */
function divideLimits(limits: Limits, instances: number): Limits {
  if (instances <= 1) return limits;
  const divide = (whole: number) => Math.max(1, Math.floor(whole / instances));
  return {
    limit: limits.limit,
    period: limits.period * instances,
    burst: divide(limits.burst),
    concurrent: limits.concurrent === undefined ? undefined : divide(limits.concurrent),
  };
}
