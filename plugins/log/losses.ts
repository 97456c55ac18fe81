import type { Logger } from '#core/platform/logger.ts';

const reportIntervalMs = 10_000;

/** Counts records that could not be written, and logs them: at once, then every ten seconds while losses continue. */
export class Losses implements Disposable {
  readonly #log: Logger;
  readonly #what: string;
  #total = 0;
  #unreported = 0;
  #reason = '';
  #latestAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param what plural noun of the lost items */
  constructor(log: Logger, what: string) {
    this.#log = log;
    this.#what = what;
  }

  /** Losses since the process started. */
  get total(): number {
    return this.#total;
  }

  /** Reason and time (performance.now()) of the latest loss; undefined without any. */
  get latest(): { readonly reason: string; readonly at: number } | undefined {
    return this.#total === 0 ? undefined : { reason: this.#reason, at: this.#latestAt };
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
    this.#log.error(`${this.#unreported} more ${this.#what}, ${this.#total} in total: ${this.#reason}`);
    this.#unreported = 0;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#unreported > 0) this.#report();
    }, reportIntervalMs).unref();
  }
}
