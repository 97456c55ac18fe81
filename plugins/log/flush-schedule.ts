const maxDelayMs = 5;

/** Calls a function at the end of the turn of the event loop or, if not urgent, with the next urgent call or some milliseconds later. */
export class FlushSchedule {
  readonly #flush: () => void;
  readonly #timer: NodeJS.Timeout;
  #isSoon = false;
  #isLater = false;

  constructor(flush: () => void) {
    this.#flush = flush;
    // One timer serves all requests.
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

  /** Cancels the delayed call; a call at the end of this turn still happens. */
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
