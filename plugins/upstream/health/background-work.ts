import { inBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Backoff } from '#core/platform/timing/backoff.ts';

const retriesMs = { first: 500, longest: 30_000 };

/** Background work that is retried until it succeeds, and repeated if it is requested while running. */
export class BackgroundWork implements Disposable {
  readonly #log: Logger;
  readonly #what: string;
  readonly #work: () => Promise<void>;
  #isWanted = false;
  #isRunning = false;
  #isOver = false;
  #pause = new AbortController();

  /**
   * @param what description for the log
   * @param work retried after any rejection
   */
  constructor(log: Logger, what: string, work: () => Promise<void>) {
    this.#log = log;
    this.#what = what;
    this.#work = work;
  }

  /** Starts the work, or leaves it to the retry after a failed attempt. */
  request(): void {
    this.#isWanted = true;
    if (!this.#isRunning) inBackground(this.#log, this.#what, () => this.#run());
  }

  /** Starts the work without waiting for the retry delay. */
  requestNow(): void {
    this.#pause.abort();
    this.request();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#pause.abort();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const backoff = new Backoff(retriesMs);
    while (this.#isWanted && !this.#isOver) {
      this.#isWanted = false;
      this.#pause = new AbortController();
      try {
        await this.#work();
        backoff.reset();
      } catch {
        this.#isWanted = true;
        await backoff.wait(this.#pause.signal);
      }
    }
    this.#isRunning = false;
  }
}
