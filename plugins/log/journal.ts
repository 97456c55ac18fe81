import { guarded, noteFailure } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { type Disk, DiskSilent } from './disk/contract.ts';
import type { Unwritten } from './disk/ring.ts';
import { FinishedSegments } from './finished-segments.ts';
import { FlushSchedule } from './flush-schedule.ts';
import { GoneFiles } from './gone-files.ts';
import { RequestsInFlight } from './in-flight.ts';
import type { JournalFolder } from './journal-folder.ts';
import { countLines, type LineSink, LineWriter } from './line-writer.ts';
import { logReason } from './log-reason.ts';
import { Losses } from './losses.ts';
import type { OwnSegment } from './own-segment.ts';
import { startOf } from './record-line.ts';
import { type JournalTrouble, SegmentOpener } from './segment-opener.ts';

export interface JournalOptions {
  readonly disk: Disk;
  readonly folder: JournalFolder;
  readonly instance: string;
  readonly log: Logger;
  /** Bytes after which a segment is finished; default 4 MiB. */
  readonly segmentBytes?: number;
  /** Ms after which a segment with records is finished; default one second. */
  readonly segmentAge?: number;
  /** Ms without a failure after which the journal counts as writable again; default ten seconds. */
  readonly calmAfter?: number;
}

/** With this many finished segments waiting, age no longer finishes another one, only size. */
const maxAgedSegments = 2;

/** An intact file may exceed its size this long while the next one cannot be opened. */
const overrunMs = 10_000;

/**
 * With more requests than this in flight, `begin` lines are gathered for a millisecond: waking the thread in each turn of the event loop
 * would cost as much as writing a dozen.
 */
const fewInFlight = 8;

/** Wait for the database until records in memory or in removed files are written to the folder again. */
const restoreAfterMs = 3_000;

/**
 * The records of this instance on their way to the database: an append-only file, split into segments.
 *
 * - The `begin` lines of one turn of the event loop go to the thread that writes them together, at its end or, with many requests in
 *   flight, those of a millisecond. No byte of a reply is sent before the `begin` line of its request is in its file (`written`): a
 *   killed process loses no answered request.
 * - A request that reaches its upstream in one turn has one line, which includes the members of `enter`. Other `enter` and `end`
 *   lines, which block no one, go with the next `begin` or some milliseconds later: each wake of the thread costs as much as a few
 *   writes.
 * - Only `begin` waits for the disk, at most 200 ms. From then on lines are kept in memory until the disk answers.
 * - There is no fsync: a machine that loses power loses its last seconds.
 * - Size or age finishes a segment. The next one begins with the `begin` lines of the requests in flight, so that a finished
 *   segment can be shipped and deleted on its own.
 * - Beyond `maxBytes` of unshipped segments, new requests are only counted, not recorded.
 * - Segments stay open until they are shipped, so that removed files lose no records. While no file can be created or written, segments
 *   are in memory; beyond their bound, requests are only counted, not recorded (decision 30).
 */
export class Journal implements AsyncDisposable {
  /** The most bytes that can wait on disk. */
  maxBytes = Number.POSITIVE_INFINITY;
  /** Bytes left by dead instances, which count towards the limit. */
  leftoverBytes = 0;
  /** Called when a segment is finished. */
  onFinished: () => void = () => {};
  readonly finished: FinishedSegments;
  readonly #options: JournalOptions & Required<Pick<JournalOptions, 'segmentBytes' | 'segmentAge'>>;
  readonly #disk: Disk;
  readonly #inFlight = new RequestsInFlight();
  readonly #losses: Losses;
  readonly #contentLosses: Losses;
  readonly #opener: SegmentOpener;
  readonly #writer: LineWriter;
  #current: OwnSegment;
  #records = 0; // of the current segment and the writer's buffer
  #firstAt: number | undefined;
  readonly #gone: GoneFiles;
  readonly #schedule = new FlushSchedule(() => this.#flushNow());
  #ageTimer: NodeJS.Timeout | undefined;
  #rolling: Promise<boolean> | undefined;
  #isClosed = false;
  /** The last segment is finished, and lines still waiting for the disk are copied. */
  #isFinished = false;

  constructor(options: JournalOptions) {
    this.#options = { segmentBytes: bounds.journalSegment, segmentAge: 1_000, ...options };
    this.#losses = new Losses(options.log, 'requests not recorded');
    this.#contentLosses = new Losses(options.log, 'bodies not recorded');
    const { disk, folder, log } = options;
    this.#disk = disk;
    this.#gone = new GoneFiles(disk, log);
    this.finished = new FinishedSegments(disk, folder, log, this.#losses);
    this.#opener = new SegmentOpener(options);
    this.#current = this.#opener.createFirst();
    this.#writer = new LineWriter(this.#current, (error) => this.#replace(error));
    disk.onSilent = () => this.#leaveFile(new DiskSilent());
    disk.onFailure = (error, unwritten) => this.#keepUnwritten(error, unwritten);
    disk.onAnswer = () => this.#noteAnswer();
  }

  begin(exchange: Exchange): void {
    if (this.#isFull) return;
    this.#inFlight.begin(exchange);
    if (this.#inFlight.size > fewInFlight) this.#schedule.gathered();
    else this.#schedule.soon();
  }

  /**
   * Settles once the `begin` line of the request is in its file, so that a crash does not lose it, or the disk is silent. Undefined if
   * no wait is needed. Never rejects.
   */
  written(exchange: Exchange): Promise<void> | undefined {
    const { gathering } = this.#schedule;
    if (gathering !== undefined && this.#inFlight.isFresh(exchange))
      return gathering.then(() => this.#onDisk(exchange));
    if (this.#inFlight.hasFresh) this.#guard(this.#flush);
    return this.#onDisk(exchange);
  }

  #onDisk(exchange: Exchange): Promise<void> | undefined {
    const position = this.#inFlight.positionOf(exchange);
    return position === undefined ? undefined : this.#disk.written(position);
  }

  enter(exchange: Exchange): void {
    const line = this.#inFlight.enter(exchange);
    if (line === undefined) return;
    this.#writer.add(line);
    this.#schedule.later();
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
    // A few bodies fill the ring, and the next ones would block the event loop until there is room.
    if (content.length > 0) this.#schedule.soon();
    else this.#schedule.later();
    this.#ageTimer ??= this.#startAging();
  }

  /** Ends a request without a record. */
  skip(exchange: Exchange): void {
    const line = this.#inFlight.skip(exchange);
    if (line === undefined || this.#isClosed) return;
    this.#writer.add(line);
    this.#schedule.later();
  }

  /** Bytes of records that are not in the database, including those of dead instances. */
  get waitingBytes(): number {
    return this.finished.bytes + this.leftoverBytes + this.#current.bytes;
  }

  /** Records of this process that are not in the database. */
  get waitingRecords(): number {
    return this.finished.records + this.#records;
  }

  /** Age in ms of the oldest waiting record; 0 without any. */
  get oldestAge(): number {
    const firstAt = this.finished.oldest?.firstAt ?? this.#firstAt;
    return firstAt === undefined ? 0 : performance.now() - firstAt;
  }

  /** Number of unrecorded requests since the process started, and the latest loss. */
  get losses(): Pick<Losses, 'total' | 'latest'> {
    return this.#losses;
  }

  /** Reason for segments in memory; undefined while they are in files. */
  get trouble(): JournalTrouble | undefined {
    return this.#opener.trouble;
  }

  /** Counts a lost record. */
  lose(reason: string): void {
    this.#losses.add(reason);
  }

  /** Finishes the current segment and continues in a new one. Returns false if that is not possible now. */
  roll(): Promise<boolean> {
    this.#rolling ??= this.#roll().finally(() => (this.#rolling = undefined));
    return this.#rolling;
  }

  /**
   * Checks whether the files are still at their paths. If not, continues in a new segment and, while the database is unavailable,
   * rewrites the held segments.
   *
   * @returns true if files were found gone since the last check
   */
  async check(): Promise<boolean> {
    if (this.#isClosed || this.#disk.isSilent) return false;
    try {
      const segment = this.#current;
      const isIntact = await segment.isIntact();
      if (segment === this.#current && !this.#isClosed) {
        if (isIntact) this.#opener.noteIntact();
        else await this.#move(segment);
      }
      if (this.oldestAge > restoreAfterMs && this.#opener.trouble === undefined) await this.finished.restoreOldest();
    } catch (error) {
      if (!(error instanceof DiskSilent)) throw error;
    }
    return this.#gone.take();
  }

  /** Finishes the last segment. Requests in flight are recorded as interrupted. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    clearTimeout(this.#ageTimer);
    this.#schedule.stop();
    for (const line of this.#inFlight.interrupt()) {
      if (this.#writer.add(line)) this.#records++;
      else this.#losses.add(logReason('log.reason.unwritable'));
    }
    this.#isClosed = true;
    this.#writer.flush();
    this.#disk.wake();
    await this.#disk.written();
    const unwritten = this.#writer.countWaiting(startOf.end);
    this.#losses.add(logReason('log.reason.unwritable'), unwritten);
    this.#finish(unwritten);
    this.#copyUnwritten();
    this.#isFinished = true;
  }

  /** Leaves unshipped segments for the next start, and counts the records that cannot be left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    await this.finished.close();
    this.#losses[Symbol.dispose]();
    this.#contentLosses[Symbol.dispose]();
  }

  get #isFull(): boolean {
    return this.waitingBytes >= this.maxBytes || this.#isClosed;
  }

  /** @param carried records in the writer's buffer, which belong to the next segment */
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

  readonly #flush = (): void => {
    this.#inFlight.writeFresh(this.#writeBegun);
    if (!this.#isClosed) this.#writer.flush();
  };

  readonly #writeBegun = (lines: readonly string[]): number | undefined => {
    for (const line of lines) this.#writer.add(line);
    const isOnItsWay = !this.#isClosed && this.#writer.flush() && !this.#current.isInMemory;
    return isOnItsWay ? this.#disk.position : undefined;
  };

  readonly #flushNow = (): void => {
    this.#guard(this.#flush);
    this.#disk.wake();
    if (this.#current.bytes >= this.#options.segmentBytes && !this.#isClosed) this.#rollInBackground();
  };

  /** Errors, such as exhausted memory, must not end the process. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#noteFailure(error);
    }
  }

  #rollInBackground(): void {
    this.roll().catch((error: unknown) => this.#noteFailure(error));
  }

  #noteFailure(error: unknown): void {
    noteFailure(this.#options.log, 'writing the journal', error);
  }

  #startAging(): NodeJS.Timeout {
    const age = guarded(this.#options.log, 'writing the journal', async () => {
      this.#ageTimer = undefined;
      const isOver = this.finished.ready < maxAgedSegments && (await this.roll());
      if (isOver || this.#isClosed) return;
      // Retries lines that had no room.
      this.#writer.flush();
      this.#ageTimer ??= this.#startAging();
    });
    return setTimeout(age, this.#options.segmentAge).unref();
  }

  async #roll(): Promise<boolean> {
    if (!this.#writer.flush()) return false;
    const file = await this.#opener.openFile();
    if (file === undefined && (await this.#canStay())) return false;
    return this.#continueIn(file ?? this.#opener.openMemory());
  }

  /** The sink for lines that the current segment rejects; undefined if memory is full. */
  #replace(error: unknown): LineSink | undefined {
    const { isInMemory, bytes } = this.#current;
    if (isInMemory && bytes === 0) return undefined;
    if (!isInMemory) this.#opener.beginTrouble(error);
    const next = this.#opener.openMemory();
    this.#change(next);
    return next;
  }

  #leaveFile(error: Error): void {
    if (this.#isClosed || this.#current.isInMemory) return;
    this.#opener.beginTrouble(error);
    this.#continueIn(this.#opener.openMemory());
  }

  #noteAnswer(): void {
    this.#gone.lookAgain();
    this.onFinished();
  }

  #keepUnwritten(error: Error, unwritten: readonly Unwritten[]): void {
    if (this.#isFinished) return;
    const own = unwritten.filter(({ file }) => file === this.#current.file).map(({ lines }) => lines);
    this.#current.retract(own.reduce((sum, { length }) => sum + length, 0));
    const carried = countLines(startOf.end, own);
    this.#opener.beginTrouble(error, this.#current.isInMemory);
    const next = this.#opener.openMemory();
    this.#change(next, carried);
    this.#writer.switchTo(next);
    const all = unwritten.map(({ lines }) => lines);
    this.#records += countLines(startOf.end, all) - carried;
    for (const lines of all) {
      try {
        next.append(lines, 0, lines.length);
      } catch {
        const lost = countLines(startOf.end, [lines]);
        this.#records -= lost;
        this.#losses.add(logReason('log.reason.unwritable'), lost);
      }
    }
    if (this.#records === 0 || this.#isClosed) return;
    this.#firstAt ??= performance.now();
    this.#ageTimer ??= this.#startAging();
  }

  /** On shutdown, lines missing from their file go to the database as well. */
  #copyUnwritten(): void {
    const lines = this.#disk.unwritten().map((each) => each.lines);
    if (lines.length === 0) return;
    const segment = this.#opener.openMemory();
    try {
      for (const each of lines) segment.append(each, 0, each.length);
    } catch {
      // Memory is full; the remaining lines may still reach the file.
    }
    this.finished.add({ segment, records: countLines(startOf.end, lines), firstAt: performance.now() });
    this.onFinished();
  }

  /** @returns false if waiting lines do not fit the current segment */
  #continueIn(next: OwnSegment): boolean {
    if (this.#isClosed || !this.#writer.flush()) {
      next.discard();
      return false;
    }
    this.#change(next);
    this.#writer.switchTo(next);
    if (!next.isInMemory) this.#guard(() => next.appendHead(this.#inFlight.beginLines()));
    return true;
  }

  /** @param carried records of the current segment that belong to the next one, in addition to those in the writer's buffer */
  #change(next: OwnSegment, carried = 0): void {
    this.#gone.look(this.#current);
    this.#finish(this.#writer.countWaiting(startOf.end) + carried);
    this.#current = next;
  }

  async #move(segment: OwnSegment): Promise<void> {
    const file = await this.#opener.openFile();
    if (segment !== this.#current || (file === undefined && segment.isInMemory)) return file?.discard();
    this.#continueIn(file ?? this.#opener.openMemory());
  }

  /** True if lines may be appended to the file for a while although the next one cannot be opened. */
  async #canStay(): Promise<boolean> {
    const segment = this.#current;
    const failingFor = performance.now() - (this.#opener.trouble?.since ?? 0);
    if (segment.isInMemory || this.#disk.isSilent || failingFor >= overrunMs) return false;
    return segment.isIntact().catch(() => false);
  }
}
