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
/** A trouble ends after this time without a failure. Less would not be enough, because a full disk accepts a few lines now and then. */
const defaultRecoveryMs = 10_000;
/** The disk must have room for this many bytes before files are used again. */
const requiredFreeBytes = 64 * 1024;

/** Why the journal is not in files, or its records are not in the database. */
export interface JournalTrouble {
  readonly reason: string;
  readonly since: number; // when it started; `performance.now()` ms
}

export interface SegmentOpenerParts {
  readonly disk: Disk;
  readonly folder: JournalFolder;
  readonly instance: string;
  readonly log: Logger;
  /** After this time without a failure, the journal counts as writable again; default: ten seconds. */
  readonly recoveryMs?: number;
}

/** Opens the segments of this instance, in files or in memory, and notes why they cannot be in files. */
export class SegmentOpener {
  readonly #parts: SegmentOpenerParts;
  readonly #memoryBudget = new MemoryBudget();
  #lastNumber = 0;
  #trouble: JournalTrouble | undefined;
  #openedAt = 0; // when a file was last opened; `performance.now()` ms
  #failedAt = Number.NEGATIVE_INFINITY; // when opening or writing a file last failed; `performance.now()` ms

  constructor(parts: SegmentOpenerParts) {
    this.#parts = parts;
  }

  /** Why segments are in memory; undefined while they can be in files. */
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

  /** Opens the next segment in a file; undefined if none can be created now. */
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

  /** Opens a segment in memory. It gets no `begin` lines, because a crash would lose these too. */
  openMemory(): OwnSegment {
    return OwnSegment.createInMemory(this.#parts.disk, this.#nextPath(), this.#memoryBudget);
  }

  /**
   * Notes that a file could not be opened or written. Logs only the first failure of a trouble.
   *
   * @param isLogged true to log a further failure as well
   */
  noteFailure(error: unknown, isLogged = false): void {
    this.#failedAt = performance.now();
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#trouble === undefined || isLogged) logFailure(this.#parts.log, 'the journal cannot be written', error);
    this.#trouble = { reason, since: this.#trouble?.since ?? performance.now() };
  }

  /** Notes that the current segment is in an intact file. This ends the trouble after some time without failures. */
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
