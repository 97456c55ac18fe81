import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import type { ConnectingAttempt } from '../connections/connect-queue.ts';

/**
 * Decides when another route is tried as well: if the current one sends no content for `hedge_after`, or if its connection is slow to open.
 */
export class HedgeTimer {
  readonly #hedgeAfterMs: number;
  #startedAt = Infinity; // when the route was tried; `performance.now()` ms
  #connectingAttempt: ConnectingAttempt | undefined;

  /** @param hedgeAfter seconds; omitted if time alone never hedges a route */
  constructor(hedgeAfter: number = Infinity) {
    this.#hedgeAfterMs = hedgeAfter * 1000;
  }

  start(): void {
    this.#startedAt = performance.now();
  }

  noteConnecting(attempt: ConnectingAttempt): void {
    this.#connectingAttempt = attempt;
  }

  /** Resolves with the result of the first attempt to settle or, once per route, with `late` when another route should be tried. */
  race<T>(running: readonly Promise<T>[]): Promise<T | 'late'> {
    const [attempt] = running;
    return attempt !== undefined && running.length === 1 && this.#remainingMs === Infinity
      ? attempt
      : this.#race(running);
  }

  async #race<T>(running: readonly Promise<T>[]): Promise<T | 'late'> {
    for (;;) {
      const firstResult = await waitForFirst(running, this.#remainingMs);
      if (firstResult !== notSettled) return firstResult;
      // The connection may have opened in the meantime.
      if (this.#remainingMs > 0) continue;
      this.#startedAt = Infinity;
      this.#connectingAttempt = undefined;
      return 'late';
    }
  }

  get #remainingMs(): number {
    const untilHedge =
      this.#startedAt === Infinity ? Infinity : this.#startedAt + this.#hedgeAfterMs - performance.now();
    return Math.max(0, Math.min(untilHedge, this.#connectingAttempt?.hedgeAfter ?? Infinity));
  }
}
