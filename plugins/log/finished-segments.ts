import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import type { JournalFolder } from './journal-folder.ts';
import type { Losses } from './losses.ts';
import type { OwnSegment } from './own-segment.ts';

/** A segment that waits for the database. */
export interface FinishedSegment {
  readonly segment: OwnSegment;
  readonly records: number;
  /** When its first record was written, on the clock of performance.now(). */
  readonly firstAt: number;
}

/** Ms between log lines about files that are written again. */
const noteEvery = 10_000;

/** The segments of this instance that wait for the database, oldest first. They stay open until shipped, up to a bound. */
export class FinishedSegments {
  readonly #folder: JournalFolder;
  readonly #log: Logger;
  readonly #losses: Losses;
  readonly #segments: FinishedSegment[] = [];
  /** Segments whose files another instance has shipped while this process was paused. */
  #takenOver: readonly OwnSegment[] = [];
  #bytes = 0;
  readonly #restoreNotes = new Throttle(noteEvery);

  constructor(folder: JournalFolder, log: Logger, losses: Losses) {
    this.#folder = folder;
    this.#log = log;
    this.#losses = losses;
  }

  get oldest(): FinishedSegment | undefined {
    return this.#segments[0];
  }

  get length(): number {
    return this.#segments.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get records(): number {
    return this.#segments.reduce((sum, { records }) => sum + records, 0);
  }

  add(finished: FinishedSegment): void {
    const { segment } = finished;
    const open = this.#segments.filter(({ segment: { isOpen } }) => isOpen).length;
    if (open >= bounds.openSegments && segment.isIntact()) segment.close();
    this.#segments.push(finished);
    this.#bytes += segment.bytes;
  }

  /** Removes the oldest segment once it is shipped. */
  release(): void {
    const oldest = this.#segments.shift();
    this.#bytes -= oldest?.segment.bytes ?? 0;
    oldest?.segment.close();
  }

  /** Counts the records of the oldest segment as lost: its file was closed and has been removed. */
  giveUp(reason: string): void {
    const { oldest } = this;
    if (oldest === undefined || this.#takenOver.includes(oldest.segment)) return;
    this.#losses.add(reason, oldest.records);
  }

  /** Called when another instance has shipped the files of this one. */
  takeOver(): void {
    this.#takenOver = this.#segments.map(({ segment }) => segment);
  }

  /** Writes the oldest segment without a file to the folder again. */
  restoreOldest(): void {
    const { segment } = this.#segments.find((finished) => !finished.segment.isIntact()) ?? {};
    if (segment === undefined) return;
    const failure = this.#restore(segment);
    if (failure === undefined && this.#restoreNotes.pass())
      this.#log.warn(`records that wait for the database are written to ${segment.path} again`);
  }

  /** Closes all segments, and counts the records that cannot be left for the next start. */
  close(): void {
    for (const { segment, records } of this.#segments.splice(0)) {
      const failure = segment.isIntact() ? undefined : this.#restore(segment);
      if (failure !== undefined && !this.#takenOver.includes(segment)) this.#losses.add(failure, records);
      segment.close();
    }
  }

  /** @returns why it was not possible */
  #restore(segment: OwnSegment): string | undefined {
    try {
      this.#folder.ensure();
      segment.restore();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
