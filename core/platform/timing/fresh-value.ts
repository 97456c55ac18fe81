import { withDeadline } from './deadline.ts';

export interface FreshValueOptions<T> {
  read(): Promise<T>;
  readonly maxAge: number; // ms until it is read again
  /** Further ms during which readers get the old value while it is read again; default 0. */
  readonly staleFor?: number;
  readonly deadline: number; // ms per reading
  /** Maximum ms that a reader waits for a reading; default: until it ends. */
  readonly patience?: number;
  /** Ms during which readers get the last value if a reading is late or has failed; default 0. */
  readonly knownFor?: number;
  now(): number; // ms, monotonic
}

/**
 * Ms during which a failure is returned while the value is read again, so that callers do not wait for an unavailable database. After
 * a failure, a value with a longer `maxAge` is read again after this time.
 */
const failureFor = 15_000;

/** A value that is read again once it is too old. Readers at the same time share one reading. */
export class FreshValue<T> {
  readonly #options: FreshValueOptions<T>;
  #reading: Promise<T> | undefined;
  #readAt = 0;
  #ended: { readonly reading: Promise<T>; readonly until: number } | undefined;
  #known: { readonly value: T; readonly until: number } | undefined;
  #isBehind = false;

  constructor(options: FreshValueOptions<T>) {
    this.#options = options;
  }

  /** True if the reading is late or has failed, so that the last reader got an old value or no value. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** @throws DeadlineExceeded, or the reading's error */
  async get(): Promise<T> {
    const { maxAge, now } = this.#options;
    if (this.#reading === undefined || now() - this.#readAt >= maxAge) this.#reading = this.#read(now());
    const isEnded = this.#ended !== undefined && now() < this.#ended.until;
    try {
      const value = await (isEnded ? this.#ended?.reading : this.#wait(this.#reading));
      this.#isBehind = false;
      return value as T;
    } catch (error) {
      this.#isBehind = true;
      if (this.#known === undefined || now() >= this.#known.until) throw error;
      return this.#known.value;
    }
  }

  async #wait(reading: Promise<T>): Promise<T> {
    const { patience } = this.#options;
    return patience === undefined ? reading : withDeadline(reading, patience, `no answer within ${patience} ms`);
  }

  #read(at: number): Promise<T> {
    const { read, deadline, maxAge, staleFor = 0, knownFor = 0, now } = this.#options;
    this.#readAt = at;
    const reading = withDeadline(read(), deadline, `no answer within ${deadline} ms`);
    reading.then(
      (value) => {
        this.#ended = { reading, until: at + maxAge + staleFor };
        this.#known = { value, until: at + knownFor };
      },
      () => {
        const until = now() + failureFor;
        this.#ended = { reading, until };
        if (this.#reading === reading) this.#readAt = Math.min(at, until - maxAge);
      },
    );
    return reading;
  }
}
