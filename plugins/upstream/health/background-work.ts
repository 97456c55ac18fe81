import { Backoff } from '#core/timing/backoff.ts';

/** Ms between attempts. */
const retries = { first: 500, longest: 30_000 };

/** Work that nobody waits for, done until it succeeds, and once more when it is asked for meanwhile. */
export class BackgroundWork implements Disposable {
  readonly #work: () => Promise<void>;
  #isWanted = false;
  #isRunning = false;
  #isOver = false;
  #pause = new AbortController();

  /** @param work whatever it rejects with is taken for a reason to try again */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** To be done now, or after the pause of what has just failed. */
  request(): void {
    this.#isWanted = true;
    if (!this.#isRunning) void this.#run();
  }

  /** To be done at once: what was in the way is gone. */
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
    const backoff = new Backoff(retries);
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
