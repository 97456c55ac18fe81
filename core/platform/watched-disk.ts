import { hungWork } from './hung-work.ts';
import { firstOrTimeout } from './timing/deadline.ts';

const timeoutMs = { answer: 2_000, reader: 200 };

/**
 * The last state read from a disk, for checks and metrics, which never wait for a disk. A question is asked in a thread of the pool, which
 * also compresses and resolves names: one question at a time, of all, holds one thread of it when the disk does not answer.
 */
export class WatchedDisk<T> {
  static #asking: Promise<unknown> = Promise.resolve();
  readonly #ask: () => Promise<T>;
  readonly #rereadAfter: number;
  #value: T | undefined;
  #asked: Promise<void> | undefined;
  #askedAt: number | undefined;
  #hasAnswered = false;
  #answeredAt = Number.NEGATIVE_INFINITY;

  /**
   * @param ask rejects where there is nothing to read
   * @param rereadAfter ms for which an answer is not asked for again
   */
  constructor(ask: () => Promise<T>, rereadAfter: number) {
    this.#ask = ask;
    this.#rereadAfter = rereadAfter;
  }

  /** The last answer, and asks for the next one; undefined before the first, and when nothing could be read. */
  read(): T | undefined {
    if (this.#isDue) this.#refresh().catch(() => undefined);
    return this.#value;
  }

  /** The answer of now or, where it takes longer than a moment, the last one. Never rejects. */
  async fresh(): Promise<T | undefined> {
    const asked = this.#isDue ? this.#refresh() : this.#asked;
    if (asked !== undefined) await firstOrTimeout([asked], timeoutMs.reader);
    return this.#value;
  }

  /** The next reader does not get the last answer. */
  expire(): void {
    this.#answeredAt = Number.NEGATIVE_INFINITY;
  }

  /** True while the disk does not answer. */
  get isSilent(): boolean {
    return this.#askedAt !== undefined && performance.now() - this.#askedAt > timeoutMs.answer;
  }

  /** True once something was answered, or could not be read. */
  get isKnown(): boolean {
    return this.#hasAnswered;
  }

  get #isDue(): boolean {
    return this.#asked === undefined && performance.now() - this.#answeredAt >= this.#rereadAfter;
  }

  #refresh(): Promise<void> {
    this.#askedAt = performance.now();
    this.#asked = WatchedDisk.#asking.then(() => this.#read());
    WatchedDisk.#asking = this.#asked;
    return this.#asked;
  }

  async #read(): Promise<void> {
    hungWork.add(this);
    try {
      this.#value = await this.#ask();
    } catch {
      this.#value = undefined;
    } finally {
      hungWork.delete(this);
      this.#hasAnswered = true;
      this.#asked = undefined;
      this.#askedAt = undefined;
      this.#answeredAt = performance.now();
    }
  }
}
