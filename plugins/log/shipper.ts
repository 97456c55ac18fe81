import type { Logger } from '#core/platform/logger.ts';
import { Backoff } from '#core/platform/timing/backoff.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { DiskUnresponsive } from './disk/contract.ts';
import type { FinishedSegment } from './finished-segments.ts';
import type { Journal } from './journal.ts';
import { readInterruptedRecords, type Leftover, type Leftovers } from './leftovers.ts';
import { logReason } from './log-reason.ts';
import { lineStart } from './record-line.ts';
import { isPersistentFailure, isRecordRefused, type RecordStore } from './record-store.ts';
import type { RejectedLines } from './rejected-lines.ts';
import { parseSegmentName, type Segment, UnreadableSegment } from './segment.ts';
import type { FileSpool } from './spool.ts';

interface ShipperParts {
  readonly journal: Journal;
  readonly leftovers: Leftovers;
  readonly store: RecordStore;
  readonly rejected: RejectedLines;
  readonly spool?: FileSpool | undefined; // receives all stored records; undefined if there is no collector
  isDiskUnresponsive(): boolean;
  readonly log: Logger;
}

type Insert = (path: string, lines: readonly string[]) => Promise<void>;

const batchSize = 500; // records per statement

const searchIntervalMs = 10_000;

const probeAfterMs = 15_000; // after this time without a record, a probe checks whether the database can still store some

const retryRangeMs = { min: 200, max: 3_000 }; // short enough to resume within seconds

const reminderIntervalMs = 60_000;

/** Why records do not reach the database. */
export interface ShippingFailure {
  readonly reason: string;
  readonly since: number; // of the first failed attempt; `performance.now()` ms
  readonly isPersistent: boolean; // true if waiting does not help, because the database responds but cannot store records
}

/**
 * Moves finished segments into the database, oldest first, and deletes each once the database has committed it. Every step can run twice,
 * because the database keeps the first record of a request.
 *
 * - If the database refuses a batch because of a record, that record is isolated and moved to the rejected lines.
 * - After any other error, the database counts as unavailable: no record is dropped, and the batch is tried again.
 */
export class Shipper {
  readonly #parts: ShipperParts;
  readonly #loop: Promise<void>;
  #isStopping = false;
  #isBackingOff = false;
  #isWoken = false;
  #wakeUp: () => void = () => {};
  #leftovers: Leftover[] = [];
  #searchedAt = Number.NEGATIVE_INFINITY;
  #storedAt = performance.now(); // last record or probe
  #failure: ShippingFailure | undefined;
  readonly #backoff = new Backoff(retryRangeMs);
  readonly #reminder = new Throttle(reminderIntervalMs);

  constructor(parts: ShipperParts) {
    this.#parts = parts;
    parts.journal.onFinished = () => {
      if (!this.#isBackingOff) this.#wake();
    };
    this.#loop = this.#run().finally(() => closeSegments(this.#leftovers));
  }

  /** The next start on this folder ships the segments that are left. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await waitForFirst([this.#loop], timeoutMs);
    // Counted now, because the journal releases these segments next, even if the database still does not respond.
    const { journal, log } = this.#parts;
    if (journal.finished.count > 0) log.warn(`${journal.finished.count} journal segments remain for the next start`);
  }

  get failure(): ShippingFailure | undefined {
    return this.#failure;
  }

  async #run(): Promise<void> {
    const { journal } = this.#parts;
    while (!this.#isStopping || journal.finished.count > 0) {
      try {
        const hasShipped = await this.#shipNext();
        if (hasShipped) this.#noteSuccess();
        else if (this.#isStopping) {
          // The next start ships files that cannot be read from the disk now.
          if (journal.finished.nextReadable === undefined) return;
        } else {
          await this.#probe();
          await this.#pause(searchIntervalMs);
        }
      } catch (error) {
        if (error instanceof DiskUnresponsive) continue;
        this.#noteFailure(error);
        if (this.#isStopping) return;
        this.#isBackingOff = true;
        await this.#pause(this.#backoff.next());
        this.#isBackingOff = false;
      }
    }
  }

  async #shipNext(): Promise<boolean> {
    const { journal, isDiskUnresponsive } = this.#parts;
    const finished = journal.finished.nextReadable;
    if (finished !== undefined) {
      await this.#shipOwn(finished);
      journal.finished.release(finished);
      return true;
    }
    if (isDiskUnresponsive()) return false;
    await this.#findLeftovers();
    const [leftover] = this.#leftovers;
    if (leftover === undefined || this.#isStopping) return false;
    try {
      await this.#shipLeftover(leftover);
    } catch (error) {
      if (!(error instanceof UnreadableSegment)) throw error;
      // The next search finds the leftover again.
      this.#leftovers.shift();
      closeSegments([leftover]);
      this.#parts.leftovers.reportObstacle(error.message);
    }
    return true;
  }

  async #shipOwn(finished: FinishedSegment): Promise<void> {
    try {
      await this.#shipSegment(finished.segment);
    } catch (error) {
      if (!(error instanceof UnreadableSegment) || !error.isPermanent) throw error;
      // A segment that cannot be read must not block later records.
      this.#parts.journal.finished.countAsLost(finished, error.message);
    }
  }

  async #probe(): Promise<void> {
    if (this.#isStopping || performance.now() - this.#storedAt < probeAfterMs) return;
    await this.#parts.store.probe();
    this.#noteSuccess();
  }

  async #findLeftovers(): Promise<void> {
    const { journal, leftovers } = this.#parts;
    if (this.#leftovers.length > 0 || performance.now() - this.#searchedAt < searchIntervalMs) return;
    this.#searchedAt = performance.now();
    this.#leftovers = await leftovers.findAll();
    journal.leftoverBytes = this.#leftovers.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async #shipLeftover(leftover: Leftover): Promise<void> {
    const { instance, segments } = leftover;
    const [segment] = segments;
    if (segment === undefined) return await this.#removeInstance(leftover);
    // Interrupted requests go first, because they are known only while all segments exist. If another instance ships the same segments,
    // both insert the same records.
    if (!leftover.hasShippedInterrupted) {
      const records = await readInterruptedRecords(segments);
      for (const batch of splitIntoBatches(records)) {
        await this.#insert(segment.path, batch);
        await this.#parts.spool?.add(batch);
      }
      leftover.hasShippedInterrupted = true;
      this.#parts.log.info(
        `dead instance ${instance} left ${segments.length} segments and ${records.length} interrupted requests`,
      );
    }
    await this.#shipSegment(segment);
    segments.shift();
    segment[Symbol.dispose]();
  }

  async #removeInstance({ instance, bytes }: Leftover): Promise<void> {
    await this.#parts.leftovers.removeLock(instance);
    this.#parts.journal.leftoverBytes -= bytes;
    this.#leftovers.shift();
    this.#parts.log.info(`all records of dead instance ${instance} are in the database`);
  }

  async #shipSegment(segment: Segment): Promise<void> {
    const { path } = segment;
    for await (const lines of segment.read()) await this.#shipLines(path, lines);
    try {
      await segment.remove();
    } catch (error) {
      // The next start ships the file again, which has no effect.
      const reason = logReason('log.reason.unremovable', { path, error: firstLineOf(error) });
      this.#parts.leftovers.reportObstacle(reason);
    }
  }

  async #shipLines(path: string, lines: readonly string[]): Promise<void> {
    const records = lines.filter((line) => line.startsWith(lineStart.end));
    for (const batch of splitIntoBatches(records)) await this.#insert(path, batch);
    const contents = lines.filter((line) => line.startsWith(lineStart.content));
    for (const batch of splitIntoBatches(contents))
      await this.#insert(path, batch, (_, bodies) => this.#parts.store.insertContent(bodies));
    await this.#parts.spool?.add([...records, ...contents]);
    for (const line of lines) {
      if (!hasKnownKind(line)) await this.#parts.rejected.add(path, line, 'unknown kind of line');
    }
  }

  readonly #insertRecords: Insert = (path, records) =>
    this.#parts.store.insert(parseSegmentName(path)?.instance ?? '', records);

  async #insert(path: string, records: readonly string[], insert: Insert = this.#insertRecords): Promise<void> {
    if (records.length === 0) return;
    try {
      await insert(path, records);
    } catch (error) {
      if (!isRecordRefused(error)) throw error;
      if (records.length === 1) return this.#parts.rejected.add(path, records[0] ?? '', firstLineOf(error));
      // The batch is halved until the rejected record is isolated.
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
      reason: firstLineOf(error),
      since: this.#failure?.since ?? performance.now(),
      isPersistent: isPersistentFailure(error),
    };
    if (this.#reminder.tryPass()) this.#parts.log.warn(`request records are waiting on disk: ${firstLineOf(error)}`);
  }

  #wake(): void {
    this.#isWoken = true;
    this.#wakeUp();
  }

  async #pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds).unref();
    this.#wakeUp = resolve;
    if (!this.#isWoken) await promise;
    this.#isWoken = false;
    clearTimeout(timer);
  }
}

function closeSegments(leftovers: readonly Leftover[]): void {
  for (const segment of leftovers.flatMap(({ segments }) => segments)) segment[Symbol.dispose]();
}

function* splitIntoBatches(lines: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < lines.length; start += batchSize) yield lines.slice(start, start + batchSize);
}

function hasKnownKind(line: string): boolean {
  return line === '' || Object.values(lineStart).some((start) => line.startsWith(start));
}

function firstLineOf(error: unknown): string {
  // The SQL and the values that follow do not belong in the log.
  return (error instanceof Error ? error.message : String(error)).split('\n', 1).join().slice(0, 200);
}
