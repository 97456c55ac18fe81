import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { guardListener, noteFailure } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import { type Disk, DiskUnresponsive } from './disk/contract.ts';
import type { UnwrittenLines } from './disk/ring.ts';
import { FinishedSegments } from './finished-segments.ts';
import { FlushSchedule } from './flush-schedule.ts';
import { RequestsInFlight } from './in-flight.ts';
import { countLines, type LineSink, LineWriter } from './line-writer.ts';
import { logReason } from './log-reason.ts';
import { Losses } from './losses.ts';
import { MissingFiles } from './missing-files.ts';
import type { OwnSegment } from './own-segment.ts';
import { lineStart } from './record-line.ts';
import { type JournalTrouble, SegmentOpener, type SegmentOpenerParts } from './segment-opener.ts';

export interface JournalOptions extends SegmentOpenerParts {
  readonly segmentBytes?: number; // default: 4 MiB
  readonly segmentAgeMs?: number; // default: one second
}

const maxAgedSegments = 2; // if this many wait, another segment is finished only because of its size

const overrunMs = 10_000; // an intact file may exceed its size while the next file cannot be opened

const maxUngatheredRequests = 8; // with more, `begin` lines are gathered for 1 ms: a wake costs as much as writing a dozen lines

const restoreAfterMs = 3_000; // without the database, until records in memory or in removed files are written to the folder again

/**
 * The records of this instance on their way to the database: an append-only file that is split into segments.
 *
 * - The writing thread gets the `begin` lines of one turn of the event loop together, at its end. With many requests in flight, it gets the
 *   lines of a millisecond together. No byte of a reply is sent before the `begin` line of its request is in its file (`whenWritten`), so
 *   killing the process loses no request that was answered.
 * - A request that reaches its upstream within one turn has one line, which includes what `enter` would add. Replies do not wait for other
 *   `enter` and `end` lines. These are written with the next `begin` line or some milliseconds later, because each wake of the thread costs
 *   as much as a few writes.
 * - Only `begin` waits for the disk, at most 200 ms. After that, lines stay in memory until the disk responds.
 * - There is no fsync, so a machine that loses power loses its last seconds.
 * - A segment is finished at a certain size or age. The next one starts with the `begin` lines of the requests in flight, so that a
 *   finished segment can be shipped and deleted on its own.
 * - If unshipped segments exceed `maxBytes`, new requests are only counted, not recorded.
 * - Segments stay open until they are shipped, so that removing files loses no records. While no file can be created or written, segments
 *   are in memory; beyond the memory bound, requests are only counted, not recorded (decision 30).
 */
export class Journal implements AsyncDisposable {
  maxBytes = Number.POSITIVE_INFINITY; // of lines that may wait on disk
  leftoverBytes = 0; // left by dead instances; they count toward `maxBytes`
  onFinished: () => void = () => {};
  readonly finished: FinishedSegments;
  readonly #options: JournalOptions & Required<Pick<JournalOptions, 'segmentBytes' | 'segmentAgeMs'>>;
  readonly #disk: Disk;
  readonly #inFlight = new RequestsInFlight();
  readonly #losses: Losses;
  readonly #contentLosses: Losses;
  readonly #opener: SegmentOpener;
  readonly #writer: LineWriter;
  #segment: OwnSegment;
  #recordCount = 0; // in the current segment and the writer's buffer
  #firstRecordAt: number | undefined;
  readonly #missingFiles: MissingFiles;
  readonly #schedule = new FlushSchedule(() => this.#flushNow());
  #ageTimer: NodeJS.Timeout | undefined;
  #rolling: Promise<boolean> | undefined;
  #isClosed = false;
  #isFinished = false; // true once the last segment is finished and lines that still waited for the disk have been copied

  constructor(options: JournalOptions) {
    this.#options = { segmentBytes: bounds.journalSegment, segmentAgeMs: 1_000, ...options };
    this.#losses = new Losses(options.log, 'requests not recorded');
    this.#contentLosses = new Losses(options.log, 'bodies not recorded');
    const { disk, folder, log } = options;
    this.#disk = disk;
    this.#missingFiles = new MissingFiles(disk, log);
    this.finished = new FinishedSegments(disk, folder, log, this.#losses);
    this.#opener = new SegmentOpener(options);
    this.#segment = this.#opener.createFirst();
    this.#writer = new LineWriter(this.#segment, (error) => this.#replaceSink(error));
    disk.onUnresponsive = () => this.#continueInMemory(new DiskUnresponsive());
    disk.onFailure = (error, unwritten) => this.#moveUnwritten(error, unwritten);
    disk.onResponse = () => this.#onDiskResponse();
  }

  begin(exchange: Exchange): void {
    if (this.#isFull) return;
    this.#inFlight.add(exchange);
    if (this.#inFlight.size > maxUngatheredRequests) this.#schedule.requestGathered();
    else this.#schedule.requestImmediate();
  }

  /**
   * Resolves when the request's `begin` line is in its file, so that a crash does not lose the request, or when the disk is unresponsive.
   * Undefined if there is nothing to wait for. Never rejects.
   */
  whenWritten(exchange: Exchange): Promise<void> | undefined {
    const { gatheredFlush } = this.#schedule;
    if (gatheredFlush !== undefined && this.#inFlight.isBeginPending(exchange))
      return gatheredFlush.then(() => this.#whenOnDisk(exchange));
    if (this.#inFlight.hasPendingBegins) this.#logErrors(this.#flush);
    return this.#whenOnDisk(exchange);
  }

  #whenOnDisk(exchange: Exchange): Promise<void> | undefined {
    const position = this.#inFlight.positionOf(exchange);
    return position === undefined ? undefined : this.#disk.whenWritten(position);
  }

  enter(exchange: Exchange): void {
    const line = this.#inFlight.enter(exchange);
    if (line === undefined) return;
    this.#writer.add(line);
    this.#schedule.requestLater();
  }

  /** @param content lines with the bodies of request and reply */
  end(exchange: Exchange, outcome: Outcome, content: readonly string[] = []): void {
    const line = this.#inFlight.end(exchange, outcome);
    if (line === undefined) return this.#losses.add(logReason('log.reason.full'));
    if (this.#isClosed || !this.#writer.add(line)) return this.#losses.add(logReason('log.reason.unwritable'));
    this.#recordCount++;
    this.#firstRecordAt ??= performance.now();
    for (const body of content) {
      if (!this.#writer.add(body)) this.#contentLosses.add(logReason('log.reason.unwritable'));
    }
    // A few bodies fill the ring; more would block the event loop until there is room.
    if (content.length > 0) this.#schedule.requestImmediate();
    else this.#schedule.requestLater();
    this.#ageTimer ??= this.#startAgeTimer();
  }

  skip(exchange: Exchange): void {
    const line = this.#inFlight.skip(exchange);
    if (line === undefined || this.#isClosed) return;
    this.#writer.add(line);
    this.#schedule.requestLater();
  }

  get waitingBytes(): number {
    return this.finished.bytes + this.leftoverBytes + this.#segment.bytes;
  }

  get waitingRecords(): number {
    return this.finished.records + this.#recordCount;
  }

  get oldestAgeMs(): number {
    const firstRecordAt = this.finished.oldest?.firstRecordAt ?? this.#firstRecordAt;
    return firstRecordAt === undefined ? 0 : performance.now() - firstRecordAt;
  }

  get losses(): Pick<Losses, 'total' | 'latest'> {
    return this.#losses;
  }

  get trouble(): JournalTrouble | undefined {
    return this.#opener.trouble;
  }

  countLoss(reason: string): void {
    this.#losses.add(reason);
  }

  /** Finishes the current segment and continues in a new one. Resolves with false if that is not possible now. */
  roll(): Promise<boolean> {
    this.#rolling ??= this.#roll().finally(() => (this.#rolling = undefined));
    return this.#rolling;
  }

  /**
   * If files are missing, continues in a new segment and, while the database is unavailable, writes the lines of removed files to the
   * folder again.
   *
   * @returns true if missing files were found since the last check
   */
  async checkFiles(): Promise<boolean> {
    if (this.#isClosed || this.#disk.isUnresponsive) return false;
    try {
      const segment = this.#segment;
      const isIntact = await segment.isIntact();
      if (segment === this.#segment && !this.#isClosed) {
        if (isIntact) this.#opener.noteIntact();
        else await this.#replaceMissing(segment);
      }
      if (this.oldestAgeMs > restoreAfterMs && this.#opener.trouble === undefined) await this.finished.restoreOldest();
    } catch (error) {
      if (!(error instanceof DiskUnresponsive)) throw error;
    }
    return this.#missingFiles.takeFinding();
  }

  /** Requests in flight are recorded as interrupted. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    clearTimeout(this.#ageTimer);
    this.#schedule.stop();
    for (const line of this.#inFlight.interrupt()) {
      if (this.#writer.add(line)) this.#recordCount++;
      else this.#losses.add(logReason('log.reason.unwritable'));
    }
    this.#isClosed = true;
    this.#writer.flush();
    this.#disk.wake();
    await this.#disk.whenWritten();
    const unwritten = this.#writer.countWaiting(lineStart.end);
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

  #finish(carriedRecords: number): void {
    const segment = this.#segment;
    const records = this.#recordCount - carriedRecords;
    const firstRecordAt = this.#firstRecordAt ?? performance.now();
    this.#recordCount = carriedRecords;
    if (carriedRecords === 0) this.#firstRecordAt = undefined;
    if (segment.bytes === 0) return segment.discard();
    this.finished.add({ segment, records, firstRecordAt });
    this.onFinished();
  }

  readonly #flush = (): void => {
    this.#inFlight.writePendingBegins(this.#writeBeginLines);
    if (!this.#isClosed) this.#writer.flush();
  };

  readonly #writeBeginLines = (lines: readonly string[]): number | undefined => {
    for (const line of lines) this.#writer.add(line);
    const isQueued = !this.#isClosed && this.#writer.flush() && !this.#segment.isInMemory;
    return isQueued ? this.#disk.position : undefined;
  };

  readonly #flushNow = (): void => {
    this.#logErrors(this.#flush);
    this.#disk.wake();
    if (this.#segment.bytes >= this.#options.segmentBytes && !this.#isClosed) this.#rollInBackground();
  };

  #logErrors(work: () => void): void {
    // Errors, such as exhausted memory, must not end the process.
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

  #startAgeTimer(): NodeJS.Timeout {
    const onAge = guardListener(this.#options.log, 'writing the journal', async () => {
      this.#ageTimer = undefined;
      const hasRolled = this.finished.readableCount < maxAgedSegments && (await this.roll());
      if (hasRolled || this.#isClosed) return;
      // Tries again with lines for which there was no room.
      this.#writer.flush();
      this.#ageTimer ??= this.#startAgeTimer();
    });
    return setTimeout(onAge, this.#options.segmentAgeMs).unref();
  }

  async #roll(): Promise<boolean> {
    if (!this.#writer.flush()) return false;
    const file = await this.#opener.openFile();
    if (file === undefined && (await this.#canOverrun())) return false;
    return this.#continueIn(file ?? this.#opener.openMemory());
  }

  #replaceSink(error: unknown): LineSink | undefined {
    const { isInMemory, bytes } = this.#segment;
    // Memory is full.
    if (isInMemory && bytes === 0) return undefined;
    if (!isInMemory) this.#opener.noteFailure(error);
    const next = this.#opener.openMemory();
    this.#replaceSegment(next);
    return next;
  }

  #continueInMemory(error: Error): void {
    if (this.#isClosed || this.#segment.isInMemory) return;
    this.#opener.noteFailure(error);
    this.#continueIn(this.#opener.openMemory());
  }

  #onDiskResponse(): void {
    this.#missingFiles.checkPending();
    this.onFinished();
  }

  #moveUnwritten(error: Error, unwritten: readonly UnwrittenLines[]): void {
    if (this.#isFinished) return;
    const segmentLines = unwritten.filter(({ file }) => file === this.#segment.file).map(({ lines }) => lines);
    this.#segment.retract(segmentLines.reduce((sum, { length }) => sum + length, 0));
    const carried = countLines(lineStart.end, segmentLines);
    this.#opener.noteFailure(error, this.#segment.isInMemory);
    const next = this.#opener.openMemory();
    this.#replaceSegment(next, carried);
    this.#writer.switchTo(next);
    const allLines = unwritten.map(({ lines }) => lines);
    this.#recordCount += countLines(lineStart.end, allLines) - carried;
    for (const lines of allLines) {
      try {
        next.append(lines, 0, lines.length);
      } catch {
        const lostRecords = countLines(lineStart.end, [lines]);
        this.#recordCount -= lostRecords;
        this.#losses.add(logReason('log.reason.unwritable'), lostRecords);
      }
    }
    if (this.#recordCount === 0 || this.#isClosed) return;
    this.#firstRecordAt ??= performance.now();
    this.#ageTimer ??= this.#startAgeTimer();
  }

  #copyUnwritten(): void {
    const lines = this.#disk.copyUnwritten().map((entry) => entry.lines);
    if (lines.length === 0) return;
    // Lines that are not in their files are shipped to the database from memory.
    const segment = this.#opener.openMemory();
    try {
      for (const bytes of lines) segment.append(bytes, 0, bytes.length);
    } catch {
      // Memory is full. The other lines may still reach the file.
    }
    this.finished.add({ segment, records: countLines(lineStart.end, lines), firstRecordAt: performance.now() });
    this.onFinished();
  }

  #continueIn(next: OwnSegment): boolean {
    if (this.#isClosed || !this.#writer.flush()) {
      next.discard();
      return false;
    }
    this.#replaceSegment(next);
    this.#writer.switchTo(next);
    if (!next.isInMemory) this.#logErrors(() => next.appendHead(this.#inFlight.renderBeginLines()));
    return true;
  }

  /** @param carried records of the current segment that belong to the next one, in addition to the writer's buffer */
  #replaceSegment(next: OwnSegment, carried = 0): void {
    this.#missingFiles.check(this.#segment);
    this.#finish(this.#writer.countWaiting(lineStart.end) + carried);
    this.#segment = next;
  }

  async #replaceMissing(segment: OwnSegment): Promise<void> {
    const file = await this.#opener.openFile();
    if (segment !== this.#segment || (file === undefined && segment.isInMemory)) return file?.discard();
    this.#continueIn(file ?? this.#opener.openMemory());
  }

  async #canOverrun(): Promise<boolean> {
    const segment = this.#segment;
    const failingMs = performance.now() - (this.#opener.trouble?.since ?? 0);
    if (segment.isInMemory || this.#disk.isUnresponsive || failingMs >= overrunMs) return false;
    return segment.isIntact().catch(() => false);
  }
}
