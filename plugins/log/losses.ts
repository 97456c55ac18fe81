import type { Logger } from '#core/logger.ts';

/** Ms between two log lines about losses. */
const reportEvery = 10_000;

/** Counts what could not be recorded, and logs it: at once, then every ten seconds while it continues. */
export class Losses implements Disposable {
  readonly #log: Logger;
  readonly #what: string;
  #total = 0;
  #unreported = 0;
  #reason = '';
  #timer: NodeJS.Timeout | undefined;

  /** @param what the plural of what is lost */
  constructor(log: Logger, what: string) {
    this.#log = log;
    this.#what = what;
  }

  /** Losses since the process started. */
  get total(): number {
    return this.#total;
  }

  add(reason: string): void {
    this.#total++;
    this.#unreported++;
    this.#reason = reason;
    if (this.#timer === undefined) this.#report();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#unreported > 0) this.#report();
    clearTimeout(this.#timer);
  }

  #report(): void {
    this.#log.error(`${this.#unreported} more ${this.#what}, ${this.#total} in total: ${this.#reason}`);
    this.#unreported = 0;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#unreported > 0) this.#report();
    }, reportEvery).unref();
  }
}
