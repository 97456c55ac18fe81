import type { Logger } from '#core/platform/logger.ts';

const reportIntervalMs = 10_000;

/** Counts records that could not be written. Logs the count immediately, and then every ten seconds while losses continue. */
export class Losses implements Disposable {
  readonly #log: Logger;
  readonly #subject: string;
  #total = 0;
  #unreported = 0;
  #reason = '';
  #latestAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param subject what the log says was lost, such as `requests not recorded` */
  constructor(log: Logger, subject: string) {
    this.#log = log;
    this.#subject = subject;
  }

  get total(): number {
    return this.#total;
  }

  /** `lostAt` is in `performance.now()` ms. */
  get latest(): { readonly reason: string; readonly lostAt: number } | undefined {
    return this.#total === 0 ? undefined : { reason: this.#reason, lostAt: this.#latestAt };
  }

  add(reason: string, count = 1): void {
    if (count === 0) return;
    this.#total += count;
    this.#unreported += count;
    this.#reason = reason;
    this.#latestAt = performance.now();
    if (this.#timer === undefined) this.#report();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#unreported > 0) this.#report();
    clearTimeout(this.#timer);
  }

  #report(): void {
    this.#log.error(`${this.#unreported} more ${this.#subject}, ${this.#total} in total: ${this.#reason}`);
    this.#unreported = 0;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#unreported > 0) this.#report();
    }, reportIntervalMs).unref();
  }
}
