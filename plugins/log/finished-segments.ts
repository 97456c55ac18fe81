import { runInBackground } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { type Disk, ignoreUnresponsive } from './disk/contract.ts';
import type { JournalFolder } from './journal-folder.ts';
import type { Losses } from './losses.ts';
import type { OwnSegment } from './own-segment.ts';

export interface FinishedSegment {
  readonly segment: OwnSegment;
  readonly records: number;
  readonly firstRecordAt: number; // of the first record; `performance.now()` ms
}

const noteIntervalMs = 10_000;
const diskTimeoutMs = 3_000; // how long to wait for an unresponsive disk on shutdown if the database is down as well

/** Segments of this instance that wait for the database, oldest first. Up to a bound, their files stay open until they are shipped. */
export class FinishedSegments {
  readonly #disk: Disk;
  readonly #folder: JournalFolder;
  readonly #log: Logger;
  readonly #losses: Losses;
  readonly #segments: FinishedSegment[] = [];
  #segmentsShippedElsewhere: readonly OwnSegment[] = []; // by another instance while this process was paused
  #bytes = 0;
  readonly #restoreThrottle = new Throttle(noteIntervalMs);

  constructor(disk: Disk, folder: JournalFolder, log: Logger, losses: Losses) {
    this.#disk = disk;
    this.#folder = folder;
    this.#log = log;
    this.#losses = losses;
  }

  get oldest(): FinishedSegment | undefined {
    return this.#segments[0];
  }

  /** While the disk is unresponsive, only segments in memory can be read. */
  get nextReadable(): FinishedSegment | undefined {
    return this.#disk.isUnresponsive ? this.#segments.find(({ segment }) => segment.isInMemory) : this.oldest;
  }

  get count(): number {
    return this.#segments.length;
  }

  get readableCount(): number {
    if (!this.#disk.isUnresponsive) return this.#segments.length;
    return this.#segments.filter(({ segment }) => segment.isInMemory).length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get records(): number {
    return this.#segments.reduce((sum, { records }) => sum + records, 0);
  }

  add(finished: FinishedSegment): void {
    const { segment } = finished;
    const openCount = this.#segments.filter(({ segment: { file } }) => file !== undefined).length;
    if (openCount >= bounds.openSegments)
      runInBackground(this.#log, 'closing a journal file', () => segment.closeIfIntact().catch(ignoreUnresponsive));
    this.#segments.push(finished);
    this.#bytes += segment.bytes;
  }

  release(finished: FinishedSegment): void {
    const index = this.#segments.indexOf(finished);
    if (index < 0) return;
    this.#segments.splice(index, 1);
    this.#bytes -= finished.segment.bytes;
    finished.segment.close();
  }

  countAsLost({ segment, records }: FinishedSegment, reason: string): void {
    if (!this.#segmentsShippedElsewhere.includes(segment)) this.#losses.add(reason, records);
  }

  noteShippedElsewhere(): void {
    this.#segmentsShippedElsewhere = this.#segments.map(({ segment }) => segment);
  }

  /** Writes the oldest segment that has no file to the folder again. */
  async restoreOldest(): Promise<void> {
    for (const { segment } of this.#segments.slice()) {
      if (!segment.isReadable || (await segment.isIntact())) continue;
      const isRestored = await this.#restore(segment).catch(() => false);
      if (isRestored && this.#restoreThrottle.tryPass())
        this.#log.warn(`writing records that wait for the database to ${segment.path} again`);
      return;
    }
  }

  /** Counts the records that cannot be left for the next start. */
  async close(): Promise<void> {
    // Lines that exist only in memory are worth the wait.
    if (this.#segments.some(({ segment }) => segment.isInMemory)) await this.#disk.waitForResponse(diskTimeoutMs);
    for (const { segment, records } of this.#segments.splice(0)) {
      const failure = await this.#ensureOnDisk(segment);
      if (failure !== undefined && !this.#segmentsShippedElsewhere.includes(segment))
        this.#losses.add(failure, records);
      segment.close();
    }
  }

  /** @returns why the records are not on disk; undefined if they are */
  async #ensureOnDisk(segment: OwnSegment): Promise<string | undefined> {
    // Lines in a file are safe even if the disk does not respond.
    if (await segment.isIntact().catch(() => true)) return undefined;
    try {
      await this.#restore(segment);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #restore(segment: OwnSegment): Promise<boolean> {
    return segment.restore(() => this.#folder.recreate(this.#disk), this.#folder.underlyingDevices);
  }
}
