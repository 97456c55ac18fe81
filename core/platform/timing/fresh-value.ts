import { withDeadline } from './deadline.ts';

export interface FreshValueOptions<T> {
  read(): Promise<T>;
  readonly maxAgeMs: number;
  readonly staleWhileReadMs?: number; // after `maxAgeMs`, callers still get the old value while it is read again; default: 0
  readonly timeoutMs: number; // of each read
  readonly maxWaitMs?: number; // of a caller for a read; default: until the read ends
  readonly staleIfErrorMs?: number; // after a read, callers get its value if a later read is slow or fails; default: 0
  now(): number; // ms, monotonic
}

/**
 * How long a failure is returned while the value is read again, so that callers do not wait for an unavailable database. After a failure,
 * the next read starts no later than this, even if `maxAgeMs` is longer.
 */
const failureCacheMs = 15_000;

/** A value that is read again once it is too old. Concurrent callers share one read. */
export class FreshValue<T> {
  readonly #options: FreshValueOptions<T>;
  #reading: Promise<T> | undefined;
  #readAt = 0;
  #settled: { readonly reading: Promise<T>; readonly until: number } | undefined;
  #lastValue: { readonly value: T; readonly until: number } | undefined;
  #isStale = false;

  constructor(options: FreshValueOptions<T>) {
    this.#options = options;
  }

  /** True if the last caller got an old value or an error, because the read was slow or failed. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** Returns the value, after reading it again if it is too old. Rejects with DeadlineExceeded, or the error of `read`. */
  async get(): Promise<T> {
    const { maxAgeMs, now } = this.#options;
    if (this.#reading === undefined || now() - this.#readAt >= maxAgeMs) this.#reading = this.#read(now());
    const isSettled = this.#settled !== undefined && now() < this.#settled.until;
    try {
      const value = await (isSettled ? this.#settled?.reading : this.#wait(this.#reading));
      this.#isStale = false;
      return value as T;
    } catch (error) {
      this.#isStale = true;
      if (this.#lastValue === undefined || now() >= this.#lastValue.until) throw error;
      return this.#lastValue.value;
    }
  }

  async #wait(reading: Promise<T>): Promise<T> {
    const { maxWaitMs } = this.#options;
    return maxWaitMs === undefined ? reading : withDeadline(reading, maxWaitMs, `no answer within ${maxWaitMs} ms`);
  }

  #read(startedAt: number): Promise<T> {
    const { read, timeoutMs, maxAgeMs, staleWhileReadMs = 0, staleIfErrorMs = 0, now } = this.#options;
    this.#readAt = startedAt;
    const reading = withDeadline(read(), timeoutMs, `no answer within ${timeoutMs} ms`);
    reading.then(
      (value) => {
        this.#settled = { reading, until: startedAt + maxAgeMs + staleWhileReadMs };
        this.#lastValue = { value, until: startedAt + staleIfErrorMs };
      },
      () => {
        const until = now() + failureCacheMs;
        this.#settled = { reading, until };
        if (this.#reading === reading) this.#readAt = Math.min(startedAt, until - maxAgeMs);
      },
    );
    return reading;
  }
}
