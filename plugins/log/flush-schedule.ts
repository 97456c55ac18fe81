const delaysMs = { gathered: 1, later: 5 };

/**
 * Calls a function at the end of the current turn of the event loop (`soon`), after a millisecond (`gathered`), or together with the next
 * such call, after five milliseconds at the latest (`later`). One call serves all requests that were made before it.
 */
export class FlushSchedule {
  readonly #flush: () => void;
  // One timer of each kind serves all requests.
  readonly #gatheredTimer: NodeJS.Timeout;
  readonly #laterTimer: NodeJS.Timeout;
  #isSoon = false;
  #isGathered = false;
  #isLater = false;
  #flushed: PromiseWithResolvers<void> | undefined;

  constructor(flush: () => void) {
    this.#flush = flush;
    this.#gatheredTimer = setTimeout(() => this.#isGathered && this.#run(), delaysMs.gathered).unref();
    this.#laterTimer = setTimeout(() => this.#isLater && this.#run(), delaysMs.later).unref();
  }

  /** Settles after the next call; undefined unless the call waits for more to be gathered. */
  get gathering(): Promise<void> | undefined {
    if (!this.#isGathered || this.#isSoon) return undefined;
    return (this.#flushed ??= Promise.withResolvers<void>()).promise;
  }

  soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    setImmediate(this.#run);
  }

  gathered(): void {
    if (this.#isSoon || this.#isGathered) return;
    this.#isGathered = true;
    this.#gatheredTimer.refresh();
  }

  later(): void {
    if (this.#isSoon || this.#isGathered || this.#isLater) return;
    this.#isLater = true;
    this.#laterTimer.refresh();
  }

  /** Cancels the delayed calls; a call at the end of this turn still happens. */
  stop(): void {
    clearTimeout(this.#gatheredTimer);
    clearTimeout(this.#laterTimer);
    this.#takeFlushed()?.resolve();
  }

  readonly #run = (): void => {
    this.#isSoon = false;
    const flushed = this.#takeFlushed();
    try {
      this.#flush();
    } finally {
      // Replies wait for it.
      flushed?.resolve();
    }
  };

  #takeFlushed(): PromiseWithResolvers<void> | undefined {
    const flushed = this.#flushed;
    this.#flushed = undefined;
    this.#isGathered = false;
    this.#isLater = false;
    return flushed;
  }
}
