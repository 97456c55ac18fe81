import { firstOrTimeout, timedOut } from '#core/platform/timing/deadline.ts';
import type { Waiting } from '../connections/connect-queue.ts';

/** Decides when another route is also tried: if the current one has had no content for `hedge_after`, or its connection is slow to open. */
export class HedgeTimer {
  readonly #hedgeAfter: number; // ms
  #since = Infinity; // performance.now() when the route was tried
  #connecting: Waiting | undefined;

  /** @param hedgeAfter seconds; undefined: never */
  constructor(hedgeAfter: number = Infinity) {
    this.#hedgeAfter = hedgeAfter * 1000;
  }

  /** Starts the timer for a route. */
  begin(): void {
    this.#since = performance.now();
  }

  /** The latest attempt is waiting for its connection. */
  connecting(waiting: Waiting): void {
    this.#connecting = waiting;
  }

  /** The first of these to settle; `late`, once per route, when another one should be tried. */
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
