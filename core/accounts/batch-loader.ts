import { bounds } from '../bounds.ts';

/**
 * Turns many look-ups into few queries. One batch is under way at a time; keys that are asked for meanwhile wait for
 * the next, and each key stands in it once. So neither a cold start nor a flood of keys that nobody knows can take more
 * than one connection, and an answer is never older than the question.
 */
export class BatchLoader<Value> {
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  readonly #waiting = new Map<string, PromiseWithResolvers<Value | undefined>>();
  #isRunning = false;

  /** @param read answers a batch; keys without an entry in the map have no value */
  constructor(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    this.#read = read;
  }

  /** @throws what `read` threw, and BatchFull when too many keys wait already */
  load(key: string): Promise<Value | undefined> {
    const asked = this.#waiting.get(key);
    if (asked !== undefined) return asked.promise;
    if (this.#waiting.size >= bounds.waitingLookups) return Promise.reject(new BatchFull());
    const entry = Promise.withResolvers<Value | undefined>();
    this.#waiting.set(key, entry);
    if (!this.#isRunning) void this.#run();
    return entry.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    await Promise.resolve(); // whoever asks in the same turn comes along
    while (this.#waiting.size > 0) await this.#runBatch([...this.#waiting].slice(0, maxBatch));
    this.#isRunning = false;
  }

  async #runBatch(batch: [string, PromiseWithResolvers<Value | undefined>][]): Promise<void> {
    for (const [key] of batch) this.#waiting.delete(key);
    try {
      const values = await this.#read(batch.map(([key]) => key));
      for (const [key, { resolve }] of batch) resolve(values.get(key));
    } catch (error) {
      // Whoever waits would only wait for the same failure.
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const [, { reject }] of [...batch, ...waiting]) reject(error);
    }
  }
}

const maxBatch = 200;

/** More keys are waiting than can be answered soon. */
export class BatchFull extends Error {
  override readonly name = 'BatchFull';

  constructor() {
    super(`more than ${bounds.waitingLookups} look-ups are waiting`);
  }
}
