import { withDeadline } from './deadline.ts';

export interface FreshValueOptions<T> {
  read(): Promise<T>;
  /** Ms for which a reading is used, a failed one included: a database that is away is not asked by every reader. */
  readonly maxAge: number;
  /** Ms for one reading. */
  readonly deadline: number;
  now(): number; // epoch ms
}

/** A value that is read again once it is too old. Readers at the same time share one reading. */
export class FreshValue<T> {
  readonly #options: FreshValueOptions<T>;
  #reading: Promise<T> | undefined;
  #readAt = 0;

  constructor(options: FreshValueOptions<T>) {
    this.#options = options;
  }

  /** @throws DeadlineExceeded, or what the reading failed with */
  async get(): Promise<T> {
    const { now, maxAge } = this.#options;
    const age = now() - this.#readAt;
    if (this.#reading === undefined || age >= maxAge || age < 0) {
      this.#readAt = now();
      this.#reading = this.#read();
    }
    return this.#reading;
  }

  async #read(): Promise<T> {
    const { read, deadline } = this.#options;
    return withDeadline(read(), deadline, `no answer within ${deadline} ms`);
  }
}
