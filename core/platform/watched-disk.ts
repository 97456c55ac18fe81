import { hungWork } from './hung-work.ts';
import { waitForFirst } from './timing/deadline.ts';

const overdueAfterMs = 2_000;
const maxWaitMs = 200;

/**
 * The last state read from a disk, for checks and metrics, which never wait long for a disk. Reads run in libuv's thread pool, which also
 * compresses and resolves names. All watched disks together run one read at a time, so that disks that do not respond block only one
 * thread.
 */
export class WatchedDisk<T> {
  static #lastRead: Promise<unknown> = Promise.resolve();
  readonly #readState: () => Promise<T>;
  readonly #maxAgeMs: number;
  #value: T | undefined;
  #pendingRead: Promise<void> | undefined;
  #requestedAt: number | undefined;
  #hasRead = false;
  #readAt = Number.NEGATIVE_INFINITY;

  /** @param readState rejects if there is nothing to read */
  constructor(readState: () => Promise<T>, maxAgeMs: number) {
    this.#readState = readState;
    this.#maxAgeMs = maxAgeMs;
  }

  /**
   * Returns the last state without waiting, and starts a read if it is too old. Returns undefined before the first read, and if the last
   * read failed.
   */
  read(): T | undefined {
    if (this.#isDue) this.#refresh().catch(() => undefined);
    return this.#value;
  }

  /** Waits a moment for the current state; returns the last one if the disk is slow. Never rejects. */
  async readFresh(): Promise<T | undefined> {
    const pendingRead = this.#isDue ? this.#refresh() : this.#pendingRead;
    if (pendingRead !== undefined) await waitForFirst([pendingRead], maxWaitMs);
    return this.#value;
  }

  /** True while the disk does not respond. */
  get isOverdue(): boolean {
    return this.#requestedAt !== undefined && performance.now() - this.#requestedAt > overdueAfterMs;
  }

  /** True once a read has succeeded or failed. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  get #isDue(): boolean {
    return this.#pendingRead === undefined && performance.now() - this.#readAt >= this.#maxAgeMs;
  }

  #refresh(): Promise<void> {
    this.#requestedAt = performance.now();
    this.#pendingRead = WatchedDisk.#lastRead.then(() => this.#read());
    WatchedDisk.#lastRead = this.#pendingRead;
    return this.#pendingRead;
  }

  async #read(): Promise<void> {
    hungWork.add(this);
    try {
      this.#value = await this.#readState();
    } catch {
      this.#value = undefined;
    } finally {
      hungWork.delete(this);
      this.#hasRead = true;
      this.#pendingRead = undefined;
      this.#requestedAt = undefined;
      this.#readAt = performance.now();
    }
  }
}
