/** Parts of the window, dropped one by one as they age. */
const slices = 6;

export interface CallWindowOptions {
  /** Ms over which calls are counted. */
  readonly window: number;
}

/** Counts calls and failures over a sliding window. Times are ms. */
export class CallWindow {
  readonly #options: CallWindowOptions;
  readonly #slices: { begin: number; calls: number; failures: number }[] = [];

  /** @param options may change */
  constructor(options: CallWindowOptions) {
    this.#options = options;
  }

  count(now: number, isFailure: boolean): void {
    this.#dropOld(now);
    let slice = this.#slices.at(-1);
    if (slice === undefined || now - slice.begin >= this.#options.window / slices) {
      slice = { begin: now, calls: 0, failures: 0 };
      this.#slices.push(slice);
    }
    slice.calls++;
    if (isFailure) slice.failures++;
  }

  /** The share of failures; 0 with fewer calls than `minimumCalls`. */
  failureRatio(now: number, minimumCalls: number): number {
    this.#dropOld(now);
    let calls = 0;
    let failures = 0;
    for (const slice of this.#slices) {
      calls += slice.calls;
      failures += slice.failures;
    }
    return calls === 0 || calls < minimumCalls ? 0 : failures / calls;
  }

  clear(): void {
    this.#slices.length = 0;
  }

  #dropOld(now: number): void {
    while (this.#slices[0] !== undefined && now - this.#slices[0].begin >= this.#options.window) this.#slices.shift();
  }
}
