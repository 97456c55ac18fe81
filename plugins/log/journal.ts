import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { guarded, noteFailure } from '#core/background.ts';
import { bounds } from '#core/bounds.ts';
import { type Link, LinkedList } from '#core/pipeline/linked-list.ts';
import type { Logger } from '#core/logger.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { defineFact } from '#core/pipeline/fact.ts';
import type { Outcome } from '#core/pipeline/stage.ts';
import { LineWriter } from './line-writer.ts';
import { Losses } from './losses.ts';
import { callerMembers, requestMembers, resultMembers, startOf } from './record-line.ts';
import { type Segment, segmentName } from './segment.ts';

export interface JournalOptions {
  /** Exists. */
  readonly folder: string;
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
interface Waiting extends Segment {
  readonly records: number;
  /** When its first record was written, on the clock of performance.now(). */
  readonly firstAt: number;
}

const runningFact = defineFact<Link<Running>>('log_running');

/** Finished segments waiting for the database above which age no longer finishes another one, only size. */
const maxAgedSegments = 2;

/** Ms between attempts to open a segment. */
const retryAfter = 1_000;

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
  readonly #writer: LineWriter;
  #number = 0;
  #records = 0; // of the current segment
  #firstAt: number | undefined;
  #path = '';
  #file: number;
  #stayUntil = 0; // on the clock of performance.now()
  #waitingBytes = 0;
  #isFlushDue = false;
  #ageTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: JournalOptions) {
    this.#options = { segmentBytes: bounds.journalSegment, segmentAge: 1_000, ...options };
    this.#losses = new Losses(options.log, 'requests not recorded');
    this.#contentLosses = new Losses(options.log, 'bodies not recorded');
    this.#file = this.#openNext();
    const { log } = options;
    this.#writer = new LineWriter(
      this.#file,
      (error) => log.error('the journal cannot be written; records are waiting in memory', error),
      () => log.info('the journal is written again'),
    );
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
  get oldest(): Segment | undefined {
    return this.#finished[0];
  }

  /** Finished segments that are not shipped. */
  get length(): number {
    return this.#finished.length;
  }

  /** Bytes of records that are not in the database, including those of dead instances. */
  get waitingBytes(): number {
    return this.#waitingBytes + this.leftoverBytes + this.#writer.written;
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

  /** Requests not recorded since the process started. */
  get lost(): number {
    return this.#losses.total;
  }

  /** Removes the oldest finished segment, which has been shipped. */
  release(): void {
    this.#waitingBytes -= this.#finished.shift()?.bytes ?? 0;
  }

  /** Finishes the current segment and continues in a new one. Returns false when that is not possible now. */
  roll(): boolean {
    if (!this.#writer.flush()) return false;
    const finished = { path: this.#path, bytes: this.#writer.written };
    const next = this.#openNextOrStay();
    if (next === undefined) return false;
    closeSync(this.#file);
    this.#file = next;
    this.#writer.switchTo(next);
    this.#finish(finished);
    return true;
  }

  /** Finishes the last segment. Requests in flight are recorded as interrupted. */
  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    clearTimeout(this.#ageTimer);
    for (const { request, caller } of this.#running.items()) {
      this.#writer.add(`${startOf.end}${request}${caller},"outcome":"interrupted"}`);
    }
    this.#fresh.length = 0;
    this.#isClosed = true;
    if (!this.#writer.flush()) this.#options.log.error(`${this.#writer.waiting} bytes of records were lost`);
    closeSync(this.#file);
    if (this.#writer.written === 0) rmSync(this.#path, { force: true });
    else this.#finish({ path: this.#path, bytes: this.#writer.written });
    this.#losses[Symbol.dispose]();
    this.#contentLosses[Symbol.dispose]();
  }

  get #isFull(): boolean {
    return this.waitingBytes >= this.maxBytes || this.#isClosed;
  }

  #finish(segment: Segment): void {
    this.#finished.push({ ...segment, records: this.#records, firstAt: this.#firstAt ?? performance.now() });
    this.#records = 0;
    this.#firstAt = undefined;
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
    if (this.#writer.written >= this.#options.segmentBytes) this.roll();
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
      // Retries what could not be written.
      if (!isOver) this.#writer.flush();
      if (!isOver) this.#ageTimer = this.#startAging();
    });
    return setTimeout(age, this.#options.segmentAge).unref();
  }

  #openNextOrStay(): number | undefined {
    if (performance.now() < this.#stayUntil) return undefined;
    try {
      return this.#openNext();
    } catch (error) {
      this.#stayUntil = performance.now() + retryAfter;
      this.#options.log.error('the next journal segment cannot be opened; writing to the current one', error);
      return undefined;
    }
  }

  /** Opens the next segment with the `begin` lines of all requests in flight; without them it is removed again. */
  #openNext(): number {
    const path = join(this.#options.folder, segmentName(this.#options.instance, this.#number + 1));
    const file = openSync(path, 'ax', 0o600);
    try {
      writeAll(file, this.#carriedLines());
    } catch (error) {
      closeSync(file);
      rmSync(path, { force: true });
      throw error;
    }
    this.#path = path;
    this.#number++;
    return file;
  }

  #carriedLines(): Buffer {
    const lines = this.#running.items().map(({ request, caller }) => `${startOf.begin}${request}${caller}}\n`);
    return Buffer.from(lines.join(''), 'latin1');
  }
}

function writeAll(file: number, bytes: Buffer): void {
  let offset = 0;
  while (offset < bytes.length) offset += writeSync(file, bytes, offset);
}
