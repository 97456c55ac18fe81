import { join } from 'node:path';
import { logFailure } from '#core/platform/errors/connection-error.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Disk } from './disk/contract.ts';
import { operations } from './disk/operations.ts';
import type { JournalFolder } from './journal-folder.ts';
import { MemoryBudget } from './memory-blocks.ts';
import { OwnSegment } from './own-segment.ts';
import { formatSegmentName } from './segment.ts';

const retryAfterMs = 1_000;
/** Time without a failure after which a trouble ends. A shorter time would not suffice, because a full disk accepts a few lines at times. */
const defaultRecoveryMs = 10_000;
/** Bytes that the disk must accept before files are used again. */
const requiredFreeBytes = 64 * 1024;

/** Reason why the journal is not in files, or its records are not in the database. */
export interface JournalTrouble {
  readonly reason: string;
  readonly since: number; // `performance.now()` ms; start of the trouble
}

/** Dependencies of `SegmentOpener`. */
export interface SegmentOpenerParts {
  readonly disk: Disk;
  readonly folder: JournalFolder;
  readonly instance: string;
  readonly log: Logger;
  /** Time without a failure after which the journal counts as writable again; default: ten seconds. */
  readonly recoveryMs?: number;
}

/** Opens the segments of this instance in files or in memory, and notes why they cannot be in files. */
export class SegmentOpener {
  readonly #parts: SegmentOpenerParts;
  readonly #memoryBudget = new MemoryBudget();
  #lastNumber = 0;
  #trouble: JournalTrouble | undefined;
  #openedAt = 0; // `performance.now()` ms; last opened file
  #failedAt = Number.NEGATIVE_INFINITY; // `performance.now()` ms; last failure to open or write a file

  constructor(parts: SegmentOpenerParts) {
    this.#parts = parts;
  }

  /** Reason why segments are in memory; undefined while they can be in files. */
  get trouble(): JournalTrouble | undefined {
    return this.#trouble;
  }

  /**
   * Creates the first segment in a file. Blocks on the disk.
   *
   * @throws Error if the file cannot be created
   */
  createFirst(): OwnSegment {
    this.#parts.folder.recreateSync();
    const path = this.#nextPath();
    return OwnSegment.createInFile(this.#parts.disk, path, operations.create(path, 0));
  }

  /** Opens the next segment in a file; undefined if it cannot be created now. */
  async openFile(): Promise<OwnSegment | undefined> {
    const { disk, folder } = this.#parts;
    if (disk.isUnresponsive || performance.now() < this.#failedAt + retryAfterMs) return undefined;
    try {
      await folder.recreate(disk);
      const path = this.#nextPath();
      const requiredBytes = this.#trouble === undefined ? 0 : requiredFreeBytes;
      const opened = await disk.run('create', path, requiredBytes, folder.underlyingDevices);
      this.#openedAt = performance.now();
      return OwnSegment.createInFile(disk, path, opened);
    } catch (error) {
      this.noteFailure(error);
      return undefined;
    }
  }

  /** Opens a segment in memory. It gets no `begin` lines, because a crash would lose these as well. */
  openMemory(): OwnSegment {
    return OwnSegment.createInMemory(this.#parts.disk, this.#nextPath(), this.#memoryBudget);
  }

  /**
   * Notes a failure to open or write a file. Logs the first failure of a trouble.
   *
   * @param isLogged true to log a further failure as well
   */
  noteFailure(error: unknown, isLogged = false): void {
    this.#failedAt = performance.now();
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#trouble === undefined || isLogged) logFailure(this.#parts.log, 'the journal cannot be written', error);
    this.#trouble = { reason, since: this.#trouble?.since ?? performance.now() };
  }

  /** Notes that the current segment is in an intact file. Ends the trouble after some time without failures. */
  noteIntact(): void {
    const { recoveryMs = defaultRecoveryMs } = this.#parts;
    if (this.#trouble === undefined || this.#openedAt <= this.#failedAt) return;
    if (performance.now() - this.#failedAt < recoveryMs) return;
    this.#parts.log.info('the journal is written again');
    this.#trouble = undefined;
  }

  #nextPath(): string {
    return join(this.#parts.folder.path, formatSegmentName(this.#parts.instance, ++this.#lastNumber));
  }
}
