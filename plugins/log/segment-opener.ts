import { join } from 'node:path';
import { logFailure } from '#core/platform/errors/connection-error.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Disk } from './disk/contract.ts';
import { operations } from './disk/operations.ts';
import type { JournalFolder } from './journal-folder.ts';
import { MemoryBudget } from './memory-blocks.ts';
import { OwnSegment } from './own-segment.ts';
import { segmentName } from './segment.ts';

const retryAfterMs = 1_000;
/** Ms without a failure that end a trouble: a full disk accepts a few lines now and then. */
const defaultCalmMs = 10_000;
/** Bytes that the disk must accept before files are used again. */
const requiredRoomBytes = 64 * 1024;

/** Reason why the journal is not in files. */
export interface JournalTrouble {
  readonly reason: string;
  /** Start of the trouble, on the clock of performance.now(). */
  readonly since: number;
}

interface OpenerParts {
  readonly disk: Disk;
  readonly folder: JournalFolder;
  readonly instance: string;
  readonly log: Logger;
  readonly calmAfter?: number; // ms
}

/** Opens the segments of this instance, in files or in memory, and notes why they cannot be files. */
export class SegmentOpener {
  readonly #parts: OpenerParts;
  readonly #memory = new MemoryBudget();
  #number = 0;
  #trouble: JournalTrouble | undefined;
  // Times of the last opened file and of the last failure to open or write one; on the clock of performance.now().
  #openedAt = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: OpenerParts) {
    this.#parts = parts;
  }

  /** Undefined while segments can be files. */
  get trouble(): JournalTrouble | undefined {
    return this.#trouble;
  }

  /** Creates the first segment, in a file. Blocks on the disk. @throws Error if the file cannot be created */
  createFirst(): OwnSegment {
    this.#parts.folder.ensureNow();
    const path = this.#nextPath();
    return OwnSegment.inFile(this.#parts.disk, path, operations.create(path, 0));
  }

  /** Opens the next segment in a file; undefined if it cannot be created now. */
  async openFile(): Promise<OwnSegment | undefined> {
    const { disk, folder } = this.#parts;
    if (disk.isSilent || performance.now() < this.#failedAt + retryAfterMs) return undefined;
    try {
      await folder.ensure(disk);
      const path = this.#nextPath();
      const room = this.#trouble === undefined ? 0 : requiredRoomBytes;
      const opened = await disk.ask('create', path, room, folder.underlying);
      this.#openedAt = performance.now();
      return OwnSegment.inFile(disk, path, opened);
    } catch (error) {
      this.beginTrouble(error);
      return undefined;
    }
  }

  /** Opens a segment in memory, without `begin` lines, because a crash would lose those too. */
  openMemory(): OwnSegment {
    return OwnSegment.inMemory(this.#parts.disk, this.#nextPath(), this.#memory);
  }

  /** @param isMore true for a failure in addition to the known one */
  beginTrouble(error: unknown, isMore = false): void {
    this.#failedAt = performance.now();
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#trouble === undefined || isMore) logFailure(this.#parts.log, 'the journal cannot be written', error);
    this.#trouble = { reason, since: this.#trouble?.since ?? performance.now() };
  }

  /** Called when the current segment is an intact file. The trouble ends after a while without failures. */
  noteIntact(): void {
    const { calmAfter = defaultCalmMs } = this.#parts;
    if (this.#trouble === undefined || this.#openedAt <= this.#failedAt) return;
    if (performance.now() - this.#failedAt < calmAfter) return;
    this.#parts.log.info('the journal is written again');
    this.#trouble = undefined;
  }

  #nextPath(): string {
    return join(this.#parts.folder.path, segmentName(this.#parts.instance, ++this.#number));
  }
}
