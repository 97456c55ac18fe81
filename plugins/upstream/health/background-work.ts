import { runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Backoff, backgroundRangeMs } from '#core/platform/timing/backoff.ts';

/** Background work that is retried until it succeeds. If it is requested while it runs, it runs once more. */
export class BackgroundWork implements Disposable {
  readonly #log: Logger;
  readonly #description: string;
  readonly #runOnce: () => Promise<void>;
  #isRequested = false;
  #isRunning = false;
  #isDisposed = false;
  #retryAbort = new AbortController();

  /** @param runOnce retried after any rejection */
  constructor(log: Logger, description: string, runOnce: () => Promise<void>) {
    this.#log = log;
    this.#description = description;
    this.#runOnce = runOnce;
  }

  request(): void {
    this.#isRequested = true;
    if (!this.#isRunning) runInBackground(this.#log, this.#description, () => this.#run());
  }

  /** Starts the work without waiting for the retry delay. */
  requestNow(): void {
    this.#retryAbort.abort();
    this.request();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#retryAbort.abort();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const backoff = new Backoff(backgroundRangeMs);
    while (this.#isRequested && !this.#isDisposed) {
      this.#isRequested = false;
      this.#retryAbort = new AbortController();
      try {
        await this.#runOnce();
        backoff.reset();
      } catch {
        this.#isRequested = true;
        await backoff.wait(this.#retryAbort.signal);
      }
    }
    this.#isRunning = false;
  }
}
