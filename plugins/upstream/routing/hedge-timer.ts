import { firstOrTimeout, timedOut } from '#core/platform/timing/deadline.ts';
import type { Waiting } from '../connections/connect-queue.ts';

/**
 * Decides when another route is asked as well: when the current one has had no content for `hedge_after`, or its
 * connection is slow to open.
 */
export class HedgeTimer {
  readonly #hedgeAfter: number; // ms
  #since = Infinity; // when the route was asked, on the clock of performance.now()
  #connecting: Waiting | undefined;

  /** @param hedgeAfter seconds; undefined for never */
  constructor(hedgeAfter: number = Infinity) {
    this.#hedgeAfter = hedgeAfter * 1000;
  }

  /** Starts the timer: a route is asked now. */
  begin(): void {
    this.#since = performance.now();
  }

  /** The last attempt waits for its connection. */
  connecting(waiting: Waiting): void {
    this.#connecting = waiting;
  }

  /** The first of these to settle; `late` when it is time to ask another route, once for each route. */
  race<T>(running: readonly Promise<T>[]): Promise<T | 'late'> {
    const [only] = running;
    return only !== undefined && running.length === 1 && this.#leftMs === Infinity ? only : this.#race(running);
  }

  async #race<T>(running: readonly Promise<T>[]): Promise<T | 'late'> {
    for (;;) {
      const result = await firstOrTimeout(running, this.#leftMs);
      if (result !== timedOut) return result;
      // The connection may have opened meanwhile.
      if (this.#leftMs > 0) continue;
      this.#since = Infinity;
      this.#connecting = undefined;
      return 'late';
    }
  }

  get #leftMs(): number {
    const untilHedge = this.#since === Infinity ? Infinity : this.#since + this.#hedgeAfter - performance.now();
    return Math.max(0, Math.min(untilHedge, this.#connecting?.hedgeAfter ?? Infinity));
  }
}
