import { setTimeout } from 'node:timers/promises';
import { bounds } from '#core/platform/bounds.ts';

const defaultBatchSize = 200;

/**
 * Combines lookups into batches. Only one batch is in flight at a time; keys requested in the meantime wait for the next batch, without
 * duplicates. A cold start or a flood of unknown keys therefore takes at most one connection. A result is never older than its lookup.
 */
export class BatchLoader<Value> {
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  readonly #delayMs: number | undefined;
  readonly #maxBatchSize: number;
  readonly #waiting = new Map<string, PromiseWithResolvers<Value | undefined>>();
  #isRunning = false;

  /**
   * @param read reads a batch; keys that are missing from the map have no value
   * @param delayMs delays each batch, which then takes all waiting keys; saves queries
   */
  constructor(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>, delayMs?: number) {
    this.#read = read;
    this.#delayMs = delayMs;
    this.#maxBatchSize = delayMs === undefined ? defaultBatchSize : bounds.waitingLookups;
  }

  /** @throws errors of `read`; TooManyLookups if too many keys are waiting */
  load(key: string): Promise<Value | undefined> {
    const existing = this.#waiting.get(key);
    if (existing !== undefined) return existing.promise;
    if (this.#waiting.size >= bounds.waitingLookups) return Promise.reject(new TooManyLookups());
    const entry = Promise.withResolvers<Value | undefined>();
    this.#waiting.set(key, entry);
    if (!this.#isRunning) this.#run().catch((error: unknown) => this.#rejectWaiting(error));
    return entry.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      await Promise.resolve(); // collects the lookups made in this turn of the event loop
      while (this.#waiting.size > 0) {
        if (this.#delayMs !== undefined) await setTimeout(this.#delayMs);
        await this.#runBatch([...this.#waiting].slice(0, this.#maxBatchSize));
      }
    } finally {
      this.#isRunning = false;
    }
  }

  async #runBatch(batch: [string, PromiseWithResolvers<Value | undefined>][]): Promise<void> {
    for (const [key] of batch) this.#waiting.delete(key);
    try {
      const values = await this.#read(batch.map(([key]) => key));
      for (const [key, { resolve }] of batch) resolve(values.get(key));
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
      // The lookups that are still waiting would fail the same way.
      this.#rejectWaiting(error);
    }
  }

  #rejectWaiting(error: unknown): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}

export class TooManyLookups extends Error {
  override readonly name = 'TooManyLookups';

  constructor() {
    super(`${bounds.waitingLookups} lookups are already waiting`);
  }
}
