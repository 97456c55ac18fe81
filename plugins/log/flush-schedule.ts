const maxDelayMs = 5;

/** Calls a function at the end of a turn of the event loop or, where that is not urgent, with the next call or some milliseconds later. */
export class FlushSchedule {
  readonly #flush: () => void;
  readonly #timer: NodeJS.Timeout;
  #isSoon = false;
  #isLater = false;

  constructor(flush: () => void) {
    this.#flush = flush;
    // One for all requests.
    this.#timer = setTimeout(() => this.#isLater && this.#run(), maxDelayMs).unref();
  }

  soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    setImmediate(this.#run);
  }

  later(): void {
    if (this.#isSoon || this.#isLater) return;
    this.#isLater = true;
    this.#timer.refresh();
  }

  /** Calls it no later than this turn any more. */
  stop(): void {
    this.#isLater = false;
    clearTimeout(this.#timer);
  }

  readonly #run = (): void => {
    this.#isSoon = false;
    this.#isLater = false;
    this.#flush();
  };
}
