import { withDeadline } from './deadline.ts';

export interface FreshValueOptions<T> {
  read(): Promise<T>;
  /** Ms after which it is read again, after a failure too: a database that is away is not asked by every reader. */
  readonly maxAge: number;
  /** Ms more for which readers still get the old value, while it is read again; 0 when left out. */
  readonly staleFor?: number;
  /** Ms for one reading. */
  readonly deadline: number;
  now(): number; // epoch ms
}

/** A value that is read again once it is too old. Readers at the same time share one reading. */
export class FreshValue<T> {
  readonly #options: FreshValueOptions<T>;
  #reading: Promise<T> | undefined;
  #readAt = 0;
  #last: { readonly value: T; readonly at: number } | undefined;

  constructor(options: FreshValueOptions<T>) {
    this.#options = options;
  }

  /** @throws DeadlineExceeded, or what the last reading failed with */
  async get(): Promise<T> {
    const { maxAge, staleFor = 0, now } = this.#options;
    const age = now() - this.#readAt;
    if (this.#reading === undefined || age >= maxAge || age < 0) this.#reading = this.#read(now());
    const last = this.#last;
    if (last !== undefined && now() - last.at < maxAge + staleFor) return last.value;
    return this.#reading;
  }

  #read(at: number): Promise<T> {
    const { read, deadline } = this.#options;
    this.#readAt = at;
    const reading = withDeadline(read(), deadline, `no answer within ${deadline} ms`);
    reading.then(
      (value) => (this.#last = { value, at }),
      () => (this.#last = undefined),
    );
    return reading;
  }
}
