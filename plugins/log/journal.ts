import { guarded, noteFailure } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { FinishedSegments } from './finished-segments.ts';
import { RequestsInFlight } from './in-flight.ts';
import type { JournalFolder } from './journal-folder.ts';
import { type LineSink, LineWriter } from './line-writer.ts';
import { logReason } from './log-reason.ts';
import { Losses } from './losses.ts';
import type { OwnSegment } from './own-segment.ts';
import { startOf } from './record-line.ts';
import { type JournalTrouble, SegmentOpener } from './segment-opener.ts';

export interface JournalOptions {
  readonly folder: JournalFolder;
  readonly instance: string;
  readonly log: Logger;
  /** Bytes after which a segment is finished; default 4 MiB. */
  readonly segmentBytes?: number;
  /** Ms after which a segment with records is finished; default one second. */
  readonly segmentAge?: number;
  /** Ms without a failure after which the journal counts as written again; default ten seconds. */
  readonly calmAfter?: number;
}

/** Finished segments waiting for the database above which age no longer finishes another one, only size. */
const maxAgedSegments = 2;

/** Ms for which an intact file may exceed its size while the next one cannot be opened. */
const stayFor = 10_000;

/** Ms that records wait for the database before those in memory or in removed files are written to the folder again. */
const restoreAfter = 3_000;

/** Ms between log lines about files that were removed. */
const noteEvery = 10_000;

/**
 * The records of this instance on their way to the database: an append-only file, split into segments.
 *
 * - The `begin` line of a request is written to the file in the microtasks of its turn: before any other promise continues,
 *   and so before the host sends a byte of the reply. A killed process loses no answered request. A request that passes
 *   every stage synchronously gets one line, which includes what `enter` adds.
 * - The other lines of one turn of the event loop are written together, or with those of the next request.
 * - There is no fsync: a machine that loses power loses its last seconds.
 * - Size or age finishes a segment. The next one begins with the `begin` lines of the requests in flight, so that a finished
 *   segment can be shipped and deleted on its own.
 * - Over `maxBytes` of unshipped segments, new requests are not recorded but counted.
 * - Segments stay open until they are shipped, so that removed files lose nothing. While no file can be made, segments are in
 *   memory; over their bound, requests are not recorded but counted (decision 30).
 */
export class Journal implements Disposable {
  /** The most bytes that can wait on disk. */
  maxBytes = Number.POSITIVE_INFINITY;
  /** Bytes left by dead instances, which count towards the limit. */
  leftoverBytes = 0;
  /** Called when a segment is finished. */
  onFinished: () => void = () => {};
  readonly finished: FinishedSegments;
  readonly #options: JournalOptions & Required<Pick<JournalOptions, 'segmentBytes' | 'segmentAge'>>;
  readonly #inFlight = new RequestsInFlight();
  readonly #losses: Losses;
  readonly #contentLosses: Losses;
  readonly #opener: SegmentOpener;
  readonly #writer: LineWriter;
  #current: OwnSegment;
  #records = 0; // of the current segment and the writer's buffer
  #firstAt: number | undefined;
  #wereGone = false;
  readonly #goneNotes = new Throttle(noteEvery);
  #isFlushDue = false;
  #ageTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: JournalOptions) {
    this.#options = { segmentBytes: bounds.journalSegment, segmentAge: 1_000, ...options };
    this.#losses = new Losses(options.log, 'requests not recorded');
    this.#contentLosses = new Losses(options.log, 'bodies not recorded');
    this.finished = new FinishedSegments(options.folder, options.log, this.#losses);
    this.#opener = new SegmentOpener(options);
    this.#current = this.#opener.createFile(this.#inFlight.beginLines());
    this.#writer = new LineWriter(this.#current, (error) => this.#replace(error));
  }

  begin(exchange: Exchange): void {
    if (this.#isFull) return;
    if (this.#inFlight.begin(exchange)) queueMicrotask(this.#writeFresh);
  }

  enter(exchange: Exchange): void {
    const line = this.#inFlight.enter(exchange);
    if (line === undefined) return;
    this.#writer.add(line);
    this.#flushSoon();
  }

  /** @param content lines with the bodies of request and reply */
  end(exchange: Exchange, outcome: Outcome, content: readonly string[] = []): void {
    const line = this.#inFlight.end(exchange, outcome);
    if (line === undefined) return this.#losses.add(logReason('log.reason.full'));
    if (this.#isClosed || !this.#writer.add(line)) return this.#losses.add(logReason('log.reason.unwritable'));
    this.#records++;
    this.#firstAt ??= performance.now();
    for (const body of content) {
      if (!this.#writer.add(body)) this.#contentLosses.add(logReason('log.reason.unwritable'));
    }
    this.#flushSoon();
    this.#ageTimer ??= this.#startAging();
  }

  /** Ends a request that is not recorded. */
  skip(exchange: Exchange): void {
    const line = this.#inFlight.skip(exchange);
    if (line === undefined || this.#isClosed) return;
    this.#writer.add(line);
    this.#flushSoon();
  }

  /** Bytes of records that are not in the database, including those of dead instances. */
  get waitingBytes(): number {
    return this.finished.bytes + this.leftoverBytes + this.#current.bytes;
  }

  /** Records of this process that are not in the database. */
  get waitingRecords(): number {
    return this.finished.records + this.#records;
  }

  /** Age of the oldest of them in ms; 0 without any. */
  get oldestAge(): number {
    const firstAt = this.finished.oldest?.firstAt ?? this.#firstAt;
    return firstAt === undefined ? 0 : performance.now() - firstAt;
  }

  /** Requests not recorded since the process started, and the latest of them. */
  get losses(): Pick<Losses, 'total' | 'latest'> {
    return this.#losses;
  }

  /** Why segments are in memory; undefined while they are in files. */
  get trouble(): JournalTrouble | undefined {
    return this.#opener.trouble;
  }

  /** Counts a lost record. */
  lose(reason: string): void {
    this.#losses.add(reason);
  }

  /** Finishes the current segment and continues in a new one. Returns false when that is not possible now. */
  roll(): boolean {
    if (!this.#writer.flush()) return false;
    const next = this.#opener.openFile(this.#beginLines) ?? (this.#canStay() ? undefined : this.#opener.openMemory());
    if (next === undefined) return false;
    this.#continueIn(next);
    this.#writer.switchTo(next);
    return true;
  }

  /**
   * Checks whether the files are still at their paths. If not, continues in a new one and, while the database is unavailable,
   * writes the held segments again.
   *
   * @returns true when files were found gone since the last check
   */
  check(): boolean {
    if (this.#isClosed) return false;
    if (!this.#current.isIntact()) this.#move();
    else this.#opener.noteIntact();
    if (this.oldestAge > restoreAfter && this.#opener.trouble === undefined) this.finished.restoreOldest();
    const wereGone = this.#wereGone;
    this.#wereGone = false;
    return wereGone;
  }

  /** Finishes the last segment. Requests in flight are recorded as interrupted. */
  close(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#ageTimer);
    for (const line of this.#inFlight.interrupt()) {
      if (this.#writer.add(line)) this.#records++;
      else this.#losses.add(logReason('log.reason.unwritable'));
    }
    this.#isClosed = true;
    this.#writer.flush();
    const unwritten = this.#writer.countWaiting(startOf.end);
    this.#losses.add(logReason('log.reason.unwritable'), unwritten);
    this.#finish(unwritten);
  }

  /** Leaves unshipped segments for the next start, and counts the records that cannot be left. */
  [Symbol.dispose](): void {
    this.close();
    this.finished.close();
    this.#losses[Symbol.dispose]();
    this.#contentLosses[Symbol.dispose]();
  }

  get #isFull(): boolean {
    return this.waitingBytes >= this.maxBytes || this.#isClosed;
  }

  /** @param carried records of the writer's buffer, which belong to the next segment */
  #finish(carried: number): void {
    const segment = this.#current;
    const records = this.#records - carried;
    const firstAt = this.#firstAt ?? performance.now();
    this.#records = carried;
    if (carried === 0) this.#firstAt = undefined;
    if (segment.bytes === 0) return segment.discard();
    this.finished.add({ segment, records, firstAt });
    this.onFinished();
  }

  /** As `#flushNow`. */
  readonly #writeFresh = (): void => {
    try {
      this.#inFlight.writeFresh(this.#writer);
      if (!this.#isClosed) this.#flush();
    } catch (error) {
      this.#noteFailure(error);
    }
  };

  readonly #beginLines = (): Buffer => this.#inFlight.beginLines();

  #flush(): void {
    this.#writer.flush();
    if (this.#current.bytes >= this.#options.segmentBytes) this.roll();
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(this.#flushNow);
  }

  /** One function for all requests. Its errors, such as exhausted memory, must not end the process. */
  readonly #flushNow = (): void => {
    this.#isFlushDue = false;
    try {
      if (!this.#isClosed) this.#flush();
    } catch (error) {
      this.#noteFailure(error);
    }
  };

  #noteFailure(error: unknown): void {
    noteFailure(this.#options.log, 'writing the journal', error);
  }

  #startAging(): NodeJS.Timeout {
    const age = guarded(this.#options.log, 'writing the journal', () => {
      this.#ageTimer = undefined;
      const isOver = this.finished.length < maxAgedSegments && this.roll();
      // Retries lines that had no room.
      if (!isOver) this.#writer.flush();
      if (!isOver) this.#ageTimer = this.#startAging();
    });
    return setTimeout(age, this.#options.segmentAge).unref();
  }

  /** The sink for lines that the current segment refuses; undefined when memory is full. */
  #replace(error: unknown): LineSink | undefined {
    if (this.#current.isInMemory && this.#current.bytes === 0) return undefined;
    if (!this.#current.isInMemory) this.#opener.beginTrouble(error);
    const next = this.#opener.openFile(this.#beginLines) ?? this.#opener.openMemory();
    this.#continueIn(next);
    return next;
  }

  #continueIn(next: OwnSegment): void {
    if (!this.#current.isInMemory && !this.#current.isIntact()) this.#noteGone();
    this.#finish(this.#writer.countWaiting(startOf.end));
    this.#current = next;
  }

  /** Leaves a file that is not at its path, or memory. */
  #move(): void {
    const file = this.#opener.openFile(this.#beginLines);
    if (file === undefined && this.#current.isInMemory) return;
    const next = file ?? this.#opener.openMemory();
    this.#continueIn(next);
    this.#writer.switchTo(next);
  }

  #noteGone(): void {
    this.#wereGone = true;
    if (!this.#goneNotes.pass()) return;
    this.#options.log.error(
      `${this.#current.path} was removed, replaced or unmounted while it was in use; its records are still held and go to the database`,
    );
  }

  #canStay(): boolean {
    const failingFor = performance.now() - (this.#opener.trouble?.since ?? 0);
    return !this.#current.isInMemory && failingFor < stayFor && this.#current.isIntact();
  }
}
