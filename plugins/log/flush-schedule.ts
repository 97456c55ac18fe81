const delaysMs = { gathered: 1, later: 5 };

/**
 * Calls a flush function at the end of the current turn of the event loop (`requestImmediate`), after a millisecond (`requestGathered`), or
 * together with the next such call but after five milliseconds at the latest (`requestLater`). One call serves all requests made before it.
 */
export class FlushSchedule {
  readonly #flush: () => void;
  readonly #gatheredTimer: NodeJS.Timeout;
  readonly #laterTimer: NodeJS.Timeout;
  #isImmediateDue = false;
  #isGatheredDue = false;
  #isLaterDue = false;
  #nextFlush: PromiseWithResolvers<void> | undefined;

  constructor(flush: () => void) {
    this.#flush = flush;
    this.#gatheredTimer = setTimeout(() => this.#isGatheredDue && this.#runFlush(), delaysMs.gathered).unref();
    this.#laterTimer = setTimeout(() => this.#isLaterDue && this.#runFlush(), delaysMs.later).unref();
  }

  /** Resolves after the next flush; undefined unless a flush of gathered lines is due. */
  get gatheredFlush(): Promise<void> | undefined {
    if (!this.#isGatheredDue || this.#isImmediateDue) return undefined;
    return (this.#nextFlush ??= Promise.withResolvers<void>()).promise;
  }

  requestImmediate(): void {
    if (this.#isImmediateDue) return;
    this.#isImmediateDue = true;
    setImmediate(this.#runFlush);
  }

  requestGathered(): void {
    if (this.#isImmediateDue || this.#isGatheredDue) return;
    this.#isGatheredDue = true;
    this.#gatheredTimer.refresh();
  }

  requestLater(): void {
    if (this.#isImmediateDue || this.#isGatheredDue || this.#isLaterDue) return;
    this.#isLaterDue = true;
    this.#laterTimer.refresh();
  }

  /** Cancels the delayed flushes. One at the end of this turn still runs. */
  stop(): void {
    clearTimeout(this.#gatheredTimer);
    clearTimeout(this.#laterTimer);
    this.#takeNextFlush()?.resolve();
  }

  readonly #runFlush = (): void => {
    this.#isImmediateDue = false;
    const nextFlush = this.#takeNextFlush();
    try {
      this.#flush();
    } finally {
      // Replies wait for this promise.
      nextFlush?.resolve();
    }
  };

  #takeNextFlush(): PromiseWithResolvers<void> | undefined {
    const nextFlush = this.#nextFlush;
    this.#nextFlush = undefined;
    this.#isGatheredDue = false;
    this.#isLaterDue = false;
    return nextFlush;
  }
}
