/** Lets something happen at most once in an interval, such as a log line about a failure that lasts. */
export class Throttle {
  readonly #interval: number; // ms
  readonly #now: () => number;
  #readyAt = Number.NEGATIVE_INFINITY;

  /** @param now ms that never go back; tests give their own */
  constructor(interval: number, now: () => number = () => performance.now()) {
    this.#interval = interval;
    this.#now = now;
  }

  /** True when the interval has passed since it was last true; the next one begins now. */
  pass(): boolean {
    const now = this.#now();
    if (now < this.#readyAt) return false;
    this.#readyAt = now + this.#interval;
    return true;
  }

  /** The next `pass` is true. */
  reset(): void {
    this.#readyAt = Number.NEGATIVE_INFINITY;
  }
}
