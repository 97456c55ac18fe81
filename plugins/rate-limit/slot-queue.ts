import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Limiter, Limits, Take } from '#core/platform/shared/shared.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';

const retryIntervalMs = 500; // other instances release slots without notice

/**
 * Queues requests that wait for a slot of their key, in order of arrival. Only a key's first request tries to take a slot: every half
 * second, and whenever this process releases one.
 */
export class SlotQueue {
  readonly #limiter: Limiter;
  readonly #now: () => number;
  readonly #queues = new Map<string, Set<Waiter>>();

  /** @param now ms of a monotonic clock */
  constructor(limiter: Limiter, now: () => number) {
    this.#limiter = limiter;
    this.#now = now;
  }

  /**
   * Calls `Limiter.take`. While all slots of the key are in use, waits up to `maxWaitMs`, then returns the rejection.
   *
   * @throws the abort reason of the exchange
   */
  async take(key: string, limits: Limits, exchange: Exchange, maxWaitMs: number): Promise<Take> {
    const deadline = this.#now() + maxWaitMs;
    if (!this.#queues.has(key)) {
      const take = await this.#limiter.take(key, limits);
      if (take.refusedBy !== 'concurrency') return take;
    }
    // If the client left while the limiter was being called, nothing would wake this request.
    if (exchange.isAborted) throw exchange.abortReason;
    const waiter = new Waiter();
    const queue = this.#queues.get(key) ?? new Set();
    this.#queues.set(key, queue.add(waiter));
    exchange.onAbort(() => waiter.wake());
    try {
      for (;;) {
        const remainingMs = Math.max(0, deadline - this.#now());
        exchange.isQueued = true;
        await waiter.pause(findFirst(queue) === waiter ? Math.min(remainingMs, retryIntervalMs) : remainingMs);
        // From here on, the request waits for the store, not for a slot.
        exchange.isQueued = false;
        if (exchange.isAborted) throw exchange.abortReason;
        const isExpired = this.#now() >= deadline;
        if (findFirst(queue) !== waiter && !isExpired) continue;
        const take = await this.#limiter.take(key, limits);
        if (take.refusedBy !== 'concurrency' || isExpired) return take;
      }
    } finally {
      queue.delete(waiter);
      if (queue.size === 0) this.#queues.delete(key);
      else this.#wakeFirst(key);
    }
  }

  release(key: string, lease: string): void {
    this.#limiter.release(key, lease);
    this.#wakeFirst(key);
  }

  #wakeFirst(key: string): void {
    const queue = this.#queues.get(key);
    if (queue !== undefined) findFirst(queue)?.wake();
  }
}

function findFirst(queue: ReadonlySet<Waiter>): Waiter | undefined {
  return queue.values().next().value;
}

class Waiter {
  #wakeUp = Promise.withResolvers<void>();

  wake(): void {
    this.#wakeUp.resolve();
  }

  /** Resolves immediately if woken since the last pause. */
  async pause(milliseconds: number): Promise<void> {
    await waitForFirst([this.#wakeUp.promise], milliseconds);
    this.#wakeUp = Promise.withResolvers();
  }
}
