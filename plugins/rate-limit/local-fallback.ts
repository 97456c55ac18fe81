import type { Logger } from '#core/logger.ts';
import { MemoryLimiter } from '#core/shared/memory.ts';
import { type Limiter, type Limits, SharedUnavailable, type Take } from '#core/shared/shared.ts';

/** Ms between requests that try the shared store after it failed: each of them may wait for it in vain. */
const retryInterval = 1_000;

/**
 * Limits by the shared store, and by this instance alone while the store is away. The limit is then that of each instance:
 * callers may get it several times over, but nobody is turned away for an outage of ours.
 */
export class LocalFallback implements Limiter {
  readonly #shared: Limiter;
  readonly #local: MemoryLimiter;
  readonly #log: Logger;
  #retryAt = 0;
  #isAway = false;

  constructor(shared: Limiter, log: Logger, now: () => number) {
    this.#shared = shared;
    this.#local = new MemoryLimiter(now);
    this.#log = log;
  }

  take(key: string, limits: Limits): Take | Promise<Take> {
    return this.#ask(
      () => this.#shared.take(key, limits),
      () => this.#local.take(key, limits),
    );
  }

  peek(key: string, limits: Limits): Take | Promise<Take> {
    return this.#ask(
      () => this.#shared.peek(key, limits),
      () => this.#local.peek(key, limits),
    );
  }

  /** Whoever has given the slot out takes it back; the other one does not know it. */
  release(key: string, lease: string): void {
    this.#shared.release(key, lease);
    this.#local.release(key, lease);
  }

  #ask(shared: () => Take | Promise<Take>, local: () => Take): Take | Promise<Take> {
    if (this.#isAway) {
      const now = performance.now();
      if (now < this.#retryAt) return local();
      this.#retryAt = now + retryInterval;
    }
    const take = shared();
    return take instanceof Promise ? this.#wait(take, local) : take;
  }

  async #wait(shared: Promise<Take>, local: () => Take): Promise<Take> {
    try {
      const take = await shared;
      if (this.#isAway) this.#log.info('limits are shared again');
      this.#isAway = false;
      return take;
    } catch (error) {
      if (!(error instanceof SharedUnavailable)) throw error;
      if (!this.#isAway) this.#log.warn(`limits hold for each instance alone: ${error.message}`);
      this.#isAway = true;
      this.#retryAt = performance.now() + retryInterval;
      return local();
    }
  }
}
