import { firstOrLate, late } from '#core/timing/deadline.ts';
import type { Waiting } from '../attempt/connect-queue.ts';

/**
 * Tells when an attempt should not be waited for alone any more: when it has had no content for as long as the model
 * allows, or its connection is doubted.
 */
export class HedgeTimer {
  readonly #hedgeAfter: number; // ms
  #since = Infinity; // when the route was asked, on the clock of performance.now()
  #connecting: Waiting | undefined;

  /** @param hedgeAfter seconds; undefined for however long it takes */
  constructor(hedgeAfter: number = Infinity) {
    this.#hedgeAfter = hedgeAfter * 1000;
  }

  /** A route is asked from now on. */
  begin(): void {
    this.#since = performance.now();
  }

  /** What was asked last waits for its connection. */
  connecting(waiting: Waiting): void {
    this.#connecting = waiting;
  }

  /** The first of these to end; `late` when it is time to ask another route beside. That is said once a route. */
  async race<T>(running: readonly Promise<T>[]): Promise<T | 'late'> {
    for (;;) {
      const result = await firstOrLate(running, this.#left);
      if (result !== late) return result;
      // It may have its connection meanwhile.
      if (this.#left > 0) continue;
      this.#since = Infinity;
      this.#connecting = undefined;
      return 'late';
    }
  }

  /** Ms; Infinity when there is nothing to wait for. */
  get #left(): number {
    const untilHedge = this.#since === Infinity ? Infinity : this.#since + this.#hedgeAfter - performance.now();
    return Math.max(0, Math.min(untilHedge, this.#connecting?.doubtAfter ?? Infinity));
  }
}
