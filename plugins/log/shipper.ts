import type { Logger } from '#core/platform/logger.ts';
import { Backoff } from '#core/platform/timing/backoff.ts';
import { firstOrTimeout } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { DiskSilent } from './disk/contract.ts';
import type { FinishedSegment } from './finished-segments.ts';
import type { Journal } from './journal.ts';
import { interruptedRecords, type Leftover, type Leftovers } from './leftovers.ts';
import { logReason } from './log-reason.ts';
import { startOf } from './record-line.ts';
import { isPersistent, isRefused, type RecordStore } from './record-store.ts';
import type { Rejected } from './rejected.ts';
import { parseSegmentName, type Segment, UnreadableSegment } from './segment.ts';
import type { FileSpool } from './spool.ts';

interface ShipperParts {
  readonly journal: Journal;
  readonly leftovers: Leftovers;
  readonly store: RecordStore;
  readonly rejected: Rejected;
  /** Receives all records that were stored; undefined without a collector. */
  readonly spool?: FileSpool | undefined;
  isSilent(): boolean;
  readonly log: Logger;
}

type Insert = (path: string, lines: readonly string[]) => Promise<void>;

const batchSize = 500; // records per statement

const searchIntervalMs = 10_000;

/** Idle time after which a probe checks that the database could still store a record. */
const probeAfterMs = 15_000;

/** While the database is unavailable; short enough to resume within seconds. */
const retriesMs = { first: 200, longest: 3_000 };

const reminderIntervalMs = 60_000;

/** Reason why records do not reach the database. */
export interface ShippingFailure {
  readonly reason: string;
  /** Time of the first failed attempt, on the clock of performance.now(). */
  readonly since: number;
  /** True if waiting does not help, because the database responds with a refusal. */
  readonly isPersistent: boolean;
}

/**
 * Moves finished segments into the database, oldest first, and deletes each once the database has committed it. Every step
 * can run twice: the database keeps the first record of a request.
 *
 * - When the database refuses a batch because of a record, that record is isolated and moved to the rejected ones.
 * - On any other error the database counts as unavailable: no record is dropped, and the batch is retried.
 */
export class Shipper {
  readonly #parts: ShipperParts;
  readonly #loop: Promise<void>;
  #isStopping = false;
  #isBackingOff = false;
  #isWoken = false;
  #endPause: () => void = () => {};
  #leftovers: Leftover[] = [];
  #searchedAt = Number.NEGATIVE_INFINITY;
  #storedAt = performance.now(); // of the last record or probe
  #failure: ShippingFailure | undefined;
  readonly #backoff = new Backoff(retriesMs);
  readonly #reminder = new Throttle(reminderIntervalMs);

  constructor(parts: ShipperParts) {
    this.#parts = parts;
    parts.journal.onFinished = () => {
      if (!this.#isBackingOff) this.#wake();
    };
    this.#loop = this.#run().finally(() => closeAll(this.#leftovers));
  }

  /**
   * Ships the finished segments while the database responds. The next instance on this folder ships the remainder.
   *
   * @param deadline ms
   */
  async stop(deadline: number): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await firstOrTimeout([this.#loop], deadline);
    // Counted now, because the journal releases them next even if the database still does not respond.
    const { journal, log } = this.#parts;
    if (journal.finished.length > 0) log.warn(`${journal.finished.length} journal segments remain for the next start`);
  }

  /** Undefined while the last attempt to store something was successful. */
  get failure(): ShippingFailure | undefined {
    return this.#failure;
  }

  async #run(): Promise<void> {
    const { journal } = this.#parts;
    while (!this.#isStopping || journal.finished.length > 0) {
      try {
        const hasShipped = await this.#shipNext();
        if (hasShipped) this.#noteSuccess();
        else if (this.#isStopping) {
          // The next start ships files that cannot be read from the disk now.
          if (journal.finished.next === undefined) return;
        } else {
          await this.#probe();
          await this.#pause(searchIntervalMs);
        }
      } catch (error) {
        if (error instanceof DiskSilent) continue;
        this.#noteFailure(error);
        if (this.#isStopping) return;
        this.#isBackingOff = true;
        await this.#pause(this.#backoff.next());
        this.#isBackingOff = false;
      }
    }
  }

  /** Ships the next segment; false if none is ready. @throws DiskSilent if only records in memory can be shipped */
  async #shipNext(): Promise<boolean> {
    const { journal, isSilent } = this.#parts;
    const own = journal.finished.next;
    if (own !== undefined) {
      await this.#shipOwn(own);
      journal.finished.release(own);
      return true;
    }
    if (isSilent()) return false;
    await this.#findDeadInstances();
    const [leftover] = this.#leftovers;
    if (leftover === undefined || this.#isStopping) return false;
    try {
      await this.#shipLeftover(leftover);
    } catch (error) {
      if (!(error instanceof UnreadableSegment)) throw error;
      // The next search finds it again.
      this.#leftovers.shift();
      closeAll([leftover]);
      this.#parts.leftovers.reportObstacle(error.message);
    }
    return true;
  }

  /** An unreadable segment must not block later records. */
  async #shipOwn(finished: FinishedSegment): Promise<void> {
    try {
      await this.#shipSegment(finished.segment);
    } catch (error) {
      if (!(error instanceof UnreadableSegment) || !error.isGone) throw error;
      this.#parts.journal.finished.giveUp(finished, error.message);
    }
  }

  async #probe(): Promise<void> {
    if (this.#isStopping || performance.now() - this.#storedAt < probeAfterMs) return;
    await this.#parts.store.probe();
    this.#noteSuccess();
  }

  async #findDeadInstances(): Promise<void> {
    const { journal, leftovers } = this.#parts;
    if (this.#leftovers.length > 0 || performance.now() - this.#searchedAt < searchIntervalMs) return;
    this.#searchedAt = performance.now();
    this.#leftovers = await leftovers.find();
    journal.leftoverBytes = this.#leftovers.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * Interrupted requests are known only while every segment exists, so they are shipped first. When another instance ships
   * the same segments, both insert the same records.
   */
  async #shipLeftover(leftover: Leftover): Promise<void> {
    const { instance, segments } = leftover;
    const [segment] = segments;
    if (segment === undefined) return await this.#forget(leftover);
    if (!leftover.isInterruptedShipped) {
      const records = await interruptedRecords(segments);
      for (const batch of batches(records)) {
        await this.#insert(segment.path, batch);
        await this.#parts.spool?.add(batch);
      }
      leftover.isInterruptedShipped = true;
      this.#parts.log.info(
        `dead instance ${instance} left ${segments.length} segments and ${records.length} interrupted requests`,
      );
    }
    await this.#shipSegment(segment);
    segments.shift();
    segment[Symbol.dispose]();
  }

  async #forget({ instance, bytes }: Leftover): Promise<void> {
    await this.#parts.leftovers.forget(instance);
    this.#parts.journal.leftoverBytes -= bytes;
    this.#leftovers.shift();
    this.#parts.log.info(`all records of dead instance ${instance} are in the database`);
  }

  async #shipSegment(segment: Segment): Promise<void> {
    const { path } = segment;
    for await (const lines of segment.read()) await this.#shipLines(path, lines);
    // A file that cannot be removed is shipped again by the next start, which has no effect.
    await segment
      .remove()
      .catch((error: unknown) =>
        this.#parts.leftovers.reportObstacle(logReason('log.reason.unremovable', { path, error: firstLine(error) })),
      );
  }

  async #shipLines(path: string, lines: readonly string[]): Promise<void> {
    const records = lines.filter((line) => line.startsWith(startOf.end));
    for (const batch of batches(records)) await this.#insert(path, batch);
    const contents = lines.filter((line) => line.startsWith(startOf.content));
    for (const batch of batches(contents))
      await this.#insert(path, batch, (_, some) => this.#parts.store.insertContent(some));
    await this.#parts.spool?.add([...records, ...contents]);
    for (const line of lines) {
      if (!isKnown(line)) await this.#parts.rejected.add(path, line, 'unknown kind of line');
    }
  }

  readonly #insertRecords: Insert = (path, records) =>
    this.#parts.store.insert(parseSegmentName(path)?.instance ?? '', records);

  /** Halves a rejected batch until the rejected record is isolated. */
  async #insert(path: string, records: readonly string[], insert: Insert = this.#insertRecords): Promise<void> {
    if (records.length === 0) return;
    try {
      await insert(path, records);
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (records.length === 1) return this.#parts.rejected.add(path, records[0] ?? '', firstLine(error));
      const middle = Math.ceil(records.length / 2);
      await this.#insert(path, records.slice(0, middle), insert);
      await this.#insert(path, records.slice(middle), insert);
    }
  }

  #noteSuccess(): void {
    if (this.#backoff.failures > 0) this.#parts.log.info('request records are written to the database again');
    this.#backoff.reset();
    this.#reminder.reset();
    this.#storedAt = performance.now();
    this.#failure = undefined;
  }

  #noteFailure(error: unknown): void {
    this.#failure = {
      reason: firstLine(error),
      since: this.#failure?.since ?? performance.now(),
      isPersistent: isPersistent(error),
    };
    if (this.#reminder.pass()) this.#parts.log.warn(`request records are waiting on disk: ${firstLine(error)}`);
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

function closeAll(leftovers: readonly Leftover[]): void {
  for (const segment of leftovers.flatMap(({ segments }) => segments)) segment[Symbol.dispose]();
}

function* batches(lines: readonly string[]): Generator<readonly string[]> {
  for (let first = 0; first < lines.length; first += batchSize) yield lines.slice(first, first + batchSize);
}

function isKnown(line: string): boolean {
  return line === '' || Object.values(startOf).some((start) => line.startsWith(start));
}

/** First line of an error; the SQL and values that follow do not belong in the log. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1).join().slice(0, 200);
}
