import { rm } from 'node:fs/promises';
import type { Logger } from '#core/logger.ts';
import { Backoff } from '#core/timing/backoff.ts';
import { firstOrLate } from '#core/timing/deadline.ts';
import { Throttle } from '#core/timing/throttle.ts';
import type { Journal } from './journal.ts';
import { interruptedRecords, type Leftover, type Leftovers } from './leftovers.ts';
import { startOf } from './record-line.ts';
import { isRefused, type RecordStore } from './record-store.ts';
import type { Rejected } from './rejected.ts';
import { parseSegmentName, readSegment } from './segment.ts';

export interface ShipperParts {
  readonly journal: Journal;
  readonly leftovers: Leftovers;
  readonly store: RecordStore;
  readonly rejected: Rejected;
  readonly log: Logger;
}

/** Inserts lines of this segment. */
type Put = (path: string, lines: readonly string[]) => Promise<void>;

/** Records that one statement inserts. */
const batchSize = 500;

/** Ms between two looks for instances that have died. */
const lookEvery = 10_000;

/** Ms between attempts while the database is away; short enough to be back in seconds. */
const retries = { first: 200, longest: 3_000 };

/** Ms between two lines that say that the database is still away. */
const remindEvery = 60_000;

/**
 * Moves finished segments into the database, oldest first, and deletes each once the database has committed it.
 * Everything may happen twice: the database keeps the first record of a request.
 *
 * - What the database refuses because of a record is narrowed down to that record, which is set aside.
 * - Any other failure counts as the database being away: nothing is dropped, and the same is tried again.
 */
export class Shipper {
  readonly #parts: ShipperParts;
  readonly #loop: Promise<void>;
  #isStopping = false;
  /** Something has happened since the last pause began. */
  #isWoken = false;
  #endPause: () => void = () => {};
  #leftovers: Leftover[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;
  readonly #backoff = new Backoff(retries);
  readonly #reminder = new Throttle(remindEvery);

  constructor(parts: ShipperParts) {
    this.#parts = parts;
    parts.journal.onFinished = () => {
      if (this.#backoff.failures === 0) this.#wake();
    };
    this.#loop = this.#run();
  }

  /**
   * Ships what this instance has finished, as long as the database answers. What is left is found by the next instance
   * on this folder.
   *
   * @param deadline ms
   */
  async stop(deadline: number): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await firstOrLate([this.#loop], deadline);
  }

  async #run(): Promise<void> {
    const { journal, log } = this.#parts;
    while (!this.#isStopping || journal.length > 0) {
      try {
        const hasShipped = await this.#shipNext();
        if (hasShipped) this.#noteSuccess();
        else await this.#pause(lookEvery);
      } catch (error) {
        this.#noteFailure(error);
        if (this.#isStopping) return log.warn(`${journal.length} segments of the journal wait for the next start`);
        await this.#pause(this.#backoff.next());
      }
    }
  }

  /** Returns false when there is nothing to do. */
  async #shipNext(): Promise<boolean> {
    const { journal } = this.#parts;
    const own = journal.oldest;
    if (own !== undefined) {
      await this.#shipSegment(own.path);
      journal.release();
      return true;
    }
    this.#lookForTheDead();
    const [leftover] = this.#leftovers;
    if (leftover === undefined || this.#isStopping) return false;
    await this.#shipPartOf(leftover);
    return true;
  }

  #lookForTheDead(): void {
    const { journal, leftovers } = this.#parts;
    if (this.#leftovers.length > 0 || performance.now() - this.#lookedAt < lookEvery) return;
    this.#lookedAt = performance.now();
    this.#leftovers = leftovers.find();
    journal.leftoverBytes = this.#leftovers.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * What was interrupted can be told only as long as every segment is there, so it goes first. Another instance may be
   * shipping the same: then both insert the same records.
   */
  async #shipPartOf(leftover: Leftover): Promise<void> {
    const { instance, paths } = leftover;
    const [path] = paths;
    if (path === undefined) return this.#bury(leftover);
    if (!leftover.isInterruptedShipped) {
      const records = await interruptedRecords(paths);
      for (const batch of batches(records)) await this.#insert(path, batch);
      leftover.isInterruptedShipped = true;
      this.#parts.log.info(`${instance} has left ${paths.length} segments and ${records.length} interrupted requests`);
    }
    await this.#shipSegment(path);
    paths.shift();
  }

  #bury({ instance, bytes }: Leftover): void {
    this.#parts.leftovers.bury(instance);
    this.#parts.journal.leftoverBytes -= bytes;
    this.#leftovers.shift();
    this.#parts.log.info(`everything that ${instance} has left is on record`);
  }

  async #shipSegment(path: string): Promise<void> {
    for await (const lines of readSegment(path)) {
      for (const batch of batches(lines)) await this.#shipLines(path, batch);
    }
    await rm(path, { force: true });
  }

  async #shipLines(path: string, lines: readonly string[]): Promise<void> {
    const records = lines.filter((line) => line.startsWith(startOf.end));
    await this.#insert(path, records);
    const contents = lines.filter((line) => line.startsWith(startOf.content));
    await this.#insert(path, contents, (_, some) => this.#parts.store.insertContent(some));
    for (const line of lines) {
      if (!isKnown(line)) await this.#parts.rejected.add(path, line, 'not a line of the journal');
    }
  }

  readonly #putRecords: Put = (path, records) =>
    this.#parts.store.insert(parseSegmentName(path)?.instance ?? '', records);

  /** Halves what the database refuses until the record at fault is alone. */
  async #insert(path: string, records: readonly string[], put: Put = this.#putRecords): Promise<void> {
    if (records.length === 0) return;
    try {
      await put(path, records);
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (records.length === 1) return this.#parts.rejected.add(path, records[0] ?? '', shortly(error));
      const middle = Math.ceil(records.length / 2);
      await this.#insert(path, records.slice(0, middle), put);
      await this.#insert(path, records.slice(middle), put);
    }
  }

  #noteSuccess(): void {
    if (this.#backoff.failures > 0) this.#parts.log.info('records of requests reach the database again');
    this.#backoff.reset();
    this.#reminder.reset();
  }

  #noteFailure(error: unknown): void {
    if (this.#reminder.pass()) this.#parts.log.warn(`records of requests wait on disk: ${shortly(error)}`);
  }

  #wake(): void {
    this.#isWoken = true;
    this.#endPause();
  }

  async #pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds).unref();
    this.#endPause = resolve;
    if (!this.#isWoken) await promise;
    this.#isWoken = false;
    clearTimeout(timer);
  }
}

function* batches(lines: readonly string[]): Generator<readonly string[]> {
  for (let first = 0; first < lines.length; first += batchSize) yield lines.slice(first, first + batchSize);
}

function isKnown(line: string): boolean {
  return line === '' || Object.values(startOf).some((start) => line.startsWith(start));
}

/** What a driver says first: the statement and its values, which may follow, are nothing for a log. */
function shortly(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1).join().slice(0, 200);
}
