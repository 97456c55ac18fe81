import type { Logger } from '#core/logger.ts';
import { MemoryLimiter } from '#core/shared/memory.ts';
import { type Limiter, type Limits, SharedUnavailable, type Take } from '#core/shared/shared.ts';

/** Ms between retries of a store that has failed: the request that retries waits for it. */
const retryInterval = 1_000;

/**
 * Limits by the shared store, and by this instance alone while the store is unavailable. Each instance then grants the whole
 * limit: callers may exceed it, but an outage of the gateway refuses nobody.
 */
export class LocalFallback implements Limiter {
  readonly #shared: Limiter;
  readonly #local: MemoryLimiter;
  readonly #log: Logger;
  #retryAt = 0;
  #isUnavailable = false;

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

  /** The limiter that granted the slot takes it back; the other one ignores it. */
  release(key: string, lease: string): void {
    this.#shared.release(key, lease);
    this.#local.release(key, lease);
  }

  #ask(shared: () => Take | Promise<Take>, local: () => Take): Take | Promise<Take> {
    if (this.#isUnavailable) {
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
      if (this.#isUnavailable) this.#log.info('rate limits are shared between instances again');
      this.#isUnavailable = false;
      return take;
    } catch (error) {
      if (!(error instanceof SharedUnavailable)) throw error;
      if (!this.#isUnavailable) this.#log.warn(`rate limits apply to each instance separately: ${error.message}`);
      this.#isUnavailable = true;
      this.#retryAt = performance.now() + retryInterval;
      return local();
    }
  }
}
