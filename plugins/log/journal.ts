import { guarded, noteFailure } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import { type Link, LinkedList } from '#core/gateway/pipeline/linked-list.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import type { JournalFolder } from './journal-folder.ts';
import { type LineSink, LineWriter } from './line-writer.ts';
import { Losses } from './losses.ts';
import type { OwnSegment } from './own-segment.ts';
import { callerMembers, requestMembers, resultMembers, startOf } from './record-line.ts';
import { type JournalTrouble, SegmentOpener } from './segment-opener.ts';

export interface JournalOptions {
  readonly folder: JournalFolder;
  readonly instance: string;
  readonly log: Logger;
  /** Bytes after which a segment is finished; default 4 MiB. */
  readonly segmentBytes?: number;
  /** Ms after which a segment with records is finished; default one second. */
  readonly segmentAge?: number;
}

/** A request in flight, with the members of its lines so far. */
interface Running {
  readonly request: string;
  caller: string;
  isOnFile: boolean;
}

/** A segment that waits for the database, with what is in it. */
interface Waiting {
  readonly segment: OwnSegment;
  readonly records: number;
  /** When its first record was written, on the clock of performance.now(). */
  readonly firstAt: number;
}

const runningFact = defineFact<Link<Running>>('log_running');

/** Finished segments waiting for the database above which age no longer finishes another one, only size. */
const maxAgedSegments = 2;

/** Ms for which an intact file takes more lines than its share while the next one cannot be opened. */
const stayFor = 10_000;

/** Ms that records wait for the database before those in memory or in removed files are written to the folder again. */
const restoreAfter = 3_000;

/** Ms between log lines about files that were removed or are written again. */
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
  /** Bytes that dead instances have left; they count too. */
  leftoverBytes = 0;
  /** Called when a segment is finished. */
  onFinished: () => void = () => {};
  readonly #options: Required<JournalOptions>;
  readonly #running = new LinkedList<Running>();
  /** Requests whose `begin` line is not on file; emptied within the current microtasks. */
  readonly #fresh: Running[] = [];
  readonly #finished: Waiting[] = [];
  readonly #losses: Losses;
  readonly #contentLosses: Losses;
  readonly #opener: SegmentOpener;
  readonly #writer: LineWriter;
  #current: OwnSegment;
  #records = 0; // of the current segment and the writer's buffer
  #firstAt: number | undefined;
  /** Segments that another instance has shipped from their files, while this process was paused. */
  #takenOver: readonly OwnSegment[] = [];
  #wereGone = false;
  readonly #goneNotes = new Throttle(noteEvery);
  readonly #restoreNotes = new Throttle(noteEvery);
  #waitingBytes = 0;
  #isFlushDue = false;
  #ageTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: JournalOptions) {
    this.#options = { segmentBytes: bounds.journalSegment, segmentAge: 1_000, ...options };
    this.#losses = new Losses(options.log, 'requests not recorded');
    this.#contentLosses = new Losses(options.log, 'bodies not recorded');
    this.#opener = new SegmentOpener(options);
    this.#current = this.#opener.createFile(this.#carriedLines());
    this.#writer = new LineWriter(this.#current, (error) => this.#replace(error));
  }

  begin(exchange: Exchange): void {
    if (this.#isFull) return;
    const running = { request: requestMembers(exchange), caller: '', isOnFile: false };
    exchange.set(runningFact, this.#running.add(running));
    if (this.#fresh.push(running) === 1) Promise.resolve().then(this.#writeFresh).catch(this.#noteFailure);
  }

  enter(exchange: Exchange): void {
    const running = exchange.find(runningFact)?.item;
    if (running === undefined) return;
    running.caller = callerMembers(exchange);
    if (!running.isOnFile) return;
    this.#writer.add(`${startOf.enter}"id":"${exchange.id}"${running.caller}}`);
    this.#flushSoon();
  }

  /** @param content lines with the bodies of request and reply */
  end(exchange: Exchange, outcome: Outcome, content: readonly string[] = []): void {
    const link = exchange.find(runningFact);
    if (link === undefined) return this.#losses.add('the journal is full');
    this.#running.remove(link);
    const running = link.item;
    running.isOnFile = true;
    const caller = running.caller === '' ? callerMembers(exchange) : running.caller;
    const line = `${startOf.end}${running.request}${caller}${resultMembers(exchange, outcome)}}`;
    if (this.#isClosed || !this.#writer.add(line)) return this.#losses.add('the journal cannot be written');
    this.#records++;
    this.#firstAt ??= performance.now();
    for (const body of content) {
      if (!this.#writer.add(body)) this.#contentLosses.add('the journal cannot be written');
    }
    this.#flushSoon();
    this.#ageTimer ??= this.#startAging();
  }

  /** The finished segment that has waited the longest. */
  get oldest(): OwnSegment | undefined {
    return this.#finished[0]?.segment;
  }

  /** Finished segments that are not shipped. */
  get length(): number {
    return this.#finished.length;
  }

  /** Bytes of records that are not in the database, including those of dead instances. */
  get waitingBytes(): number {
    return this.#waitingBytes + this.leftoverBytes + this.#current.bytes;
  }

  /** Records of this process that are not in the database. */
  get waitingRecords(): number {
    return this.#finished.reduce((sum, { records }) => sum + records, this.#records);
  }

  /** Age of the oldest of them in ms; 0 without any. */
  get oldestAge(): number {
    const firstAt = this.#finished[0]?.firstAt ?? this.#firstAt;
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

  /** Forgets the oldest finished segment, which has been shipped. */
  release(): void {
    const oldest = this.#finished.shift();
    this.#waitingBytes -= oldest?.segment.bytes ?? 0;
    oldest?.segment.close();
  }

  /** Counts a record that was given up. */
  lose(reason: string): void {
    this.#losses.add(reason);
  }

  /** Counts the records of the oldest finished segment as lost: its file is gone and was not open any more. */
  giveUp(reason: string): void {
    const [oldest] = this.#finished;
    if (oldest === undefined || this.#takenOver.includes(oldest.segment)) return;
    this.#losses.add(reason, oldest.records);
  }

  /** Finishes the current segment and continues in a new one. Returns false when that is not possible now. */
  roll(): boolean {
    if (!this.#writer.flush()) return false;
    const next =
      this.#opener.openFile(() => this.#carriedLines()) ?? (this.#canStay() ? undefined : this.#opener.openMemory());
    if (next === undefined) return false;
    this.#continueIn(next);
    this.#writer.switchTo(next);
    return true;
  }

  /** Called when another instance has shipped the files of this one. */
  takeOver(): void {
    this.#takenOver = this.#finished.map(({ segment }) => segment);
  }

  /**
   * Looks whether the files are where they were made. If not, continues in a new one; and while the database is away, writes
   * again what is still held.
   *
   * @returns true when files were found gone since the last check
   */
  check(): boolean {
    if (this.#isClosed) return false;
    if (!this.#current.isIntact()) this.#move();
    else this.#opener.noteIntact();
    if (this.oldestAge > restoreAfter) this.#restoreOldest();
    const wereGone = this.#wereGone;
    this.#wereGone = false;
    return wereGone;
  }

  /** Finishes the last segment. Requests in flight are recorded as interrupted. */
  close(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#ageTimer);
    for (const { request, caller } of this.#running.items()) {
      if (this.#writer.add(`${startOf.end}${request}${caller},"outcome":"interrupted"}`)) this.#records++;
      else this.#losses.add('the journal cannot be written');
    }
    this.#fresh.length = 0;
    this.#isClosed = true;
    this.#writer.flush();
    const unwritten = this.#writer.countWaiting(startOf.end);
    this.#losses.add('the journal cannot be written', unwritten);
    this.#finish(unwritten);
  }

  /** Leaves what has not been shipped for the next start, and counts what cannot be left. */
  [Symbol.dispose](): void {
    this.close();
    for (const { segment, records } of this.#finished.splice(0)) {
      const failure = segment.isIntact() ? undefined : this.#restore(segment);
      if (failure !== undefined && !this.#takenOver.includes(segment)) this.#losses.add(failure, records);
      segment.close();
    }
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
    const open = this.#finished.filter(({ segment: { isOpen } }) => isOpen).length;
    if (open >= bounds.openSegments && segment.isIntact()) segment.close();
    this.#finished.push({ segment, records, firstAt });
    this.#waitingBytes += segment.bytes;
    this.onFinished();
  }

  readonly #writeFresh = (): void => {
    for (const running of this.#fresh) {
      if (running.isOnFile) continue;
      running.isOnFile = true;
      this.#writer.add(`${startOf.begin}${running.request}${running.caller}}`);
    }
    this.#fresh.length = 0;
    if (!this.#isClosed) this.#flush();
  };

  #flush(): void {
    this.#writer.flush();
    if (this.#current.bytes >= this.#options.segmentBytes) this.roll();
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(this.#flushNow);
  }

  /** One function for all requests. What it throws, a full memory say, must not end the process. */
  readonly #flushNow = (): void => {
    this.#isFlushDue = false;
    try {
      if (!this.#isClosed) this.#flush();
    } catch (error) {
      this.#noteFailure(error);
    }
  };

  readonly #noteFailure = (error: unknown): void => noteFailure(this.#options.log, 'writing the journal', error);

  #startAging(): NodeJS.Timeout {
    const age = guarded(this.#options.log, 'writing the journal', () => {
      this.#ageTimer = undefined;
      const isOver = this.#finished.length < maxAgedSegments && this.roll();
      // Retries what had no room.
      if (!isOver) this.#writer.flush();
      if (!isOver) this.#ageTimer = this.#startAging();
    });
    return setTimeout(age, this.#options.segmentAge).unref();
  }

  /** Where lines go that the current segment does not take; undefined when memory is full. */
  #replace(error: unknown): LineSink | undefined {
    if (this.#current.isInMemory && this.#current.bytes === 0) return undefined;
    if (!this.#current.isInMemory) this.#opener.beginTrouble(error);
    const next = this.#opener.openFile(() => this.#carriedLines()) ?? this.#opener.openMemory();
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
    const file = this.#opener.openFile(() => this.#carriedLines());
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

  #restoreOldest(): void {
    const { segment } = this.#finished.find((waiting) => !waiting.segment.isIntact()) ?? {};
    if (segment === undefined || this.#opener.trouble !== undefined) return;
    const failure = this.#restore(segment);
    if (failure === undefined && this.#restoreNotes.pass())
      this.#options.log.warn(`records that wait for the database are written to ${segment.path} again`);
  }

  /** @returns why it was not possible */
  #restore(segment: OwnSegment): string | undefined {
    try {
      this.#options.folder.ensure();
      segment.restore();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #carriedLines(): Buffer {
    const lines = this.#running.items().map(({ request, caller }) => `${startOf.begin}${request}${caller}}\n`);
    return Buffer.from(lines.join(''), 'latin1');
  }
}
