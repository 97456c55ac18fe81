import { withDeadline } from './deadline.ts';

export interface FreshValueOptions<T> {
  read(): Promise<T>;
  /** Ms after which it is read again. */
  readonly maxAge: number;
  /** Ms more for which readers still get the old value, while it is read again; 0 when left out. */
  readonly staleFor?: number;
  /** Timeout of a reading in ms. */
  readonly deadline: number;
  now(): number; // ms, monotonic
}

/** Ms for which a failure is returned while the value is read again, so that callers do not wait for an unavailable database. */
const failureFor = 15_000;

/** A value that is read again once it is too old. Readers at the same time share one reading. */
export class FreshValue<T> {
  readonly #options: FreshValueOptions<T>;
  /** The last reading, which may be running. */
  #reading: Promise<T> | undefined;
  #readAt = 0;
  /** The last reading that has ended, and until when it counts. */
  #ended: { readonly reading: Promise<T>; readonly until: number } | undefined;

  constructor(options: FreshValueOptions<T>) {
    this.#options = options;
  }

  /** @throws DeadlineExceeded, or what the reading failed with */
  async get(): Promise<T> {
    const { maxAge, now } = this.#options;
    if (this.#reading === undefined || now() - this.#readAt >= maxAge) this.#reading = this.#read(now());
    return this.#ended !== undefined && now() < this.#ended.until ? this.#ended.reading : this.#reading;
  }

  #read(at: number): Promise<T> {
    const { read, deadline, maxAge, staleFor = 0 } = this.#options;
    this.#readAt = at;
    const reading = withDeadline(read(), deadline, `no answer within ${deadline} ms`);
    reading.then(
      () => (this.#ended = { reading, until: at + maxAge + staleFor }),
      () => (this.#ended = { reading, until: at + Math.max(maxAge, failureFor) }),
    );
    return reading;
  }
}
