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
const defaultRecoveryMs = 10_000; // a shorter time is not enough, because a full disk accepts a few lines now and then
const requiredFreeBytes = 64 * 1024; // on the disk, before files are used again

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
  readonly recoveryMs?: number; // time without a failure until the journal counts as writable again; default: ten seconds
}

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

  get trouble(): JournalTrouble | undefined {
    return this.#trouble;
  }

  /** Blocks on the disk. */
  createFirst(): OwnSegment {
    this.#parts.folder.recreateSync();
    const path = this.#nextPath();
    return OwnSegment.createInFile(this.#parts.disk, path, operations.create(path, 0));
  }

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

  /** A segment in memory gets no `begin` lines, because a crash would lose these too. */
  openMemory(): OwnSegment {
    return OwnSegment.createInMemory(this.#parts.disk, this.#nextPath(), this.#memoryBudget);
  }

  /** Logs only the first failure of a trouble, unless `isLogged` is true. */
  noteFailure(error: unknown, isLogged = false): void {
    this.#failedAt = performance.now();
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#trouble === undefined || isLogged) logFailure(this.#parts.log, 'the journal cannot be written', error);
    this.#trouble = { reason, since: this.#trouble?.since ?? performance.now() };
  }

  /** Ends the trouble after some time without failures. */
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
