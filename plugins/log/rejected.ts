import { basename, join } from 'node:path';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Disk } from './disk/disk.ts';

/** Keeps the lines that cannot become records for the operator, in one file per segment. */
export class Rejected {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #log: Logger;
  readonly #onDropped: (reason: string) => void;

  /** @param onDropped called for each line that could not be kept */
  constructor(disk: Disk, folder: string, log: Logger, onDropped: (reason: string) => void) {
    this.#disk = disk;
    this.#folder = folder;
    this.#log = log;
    this.#onDropped = onDropped;
  }

  /** Never throws: a malformed line must not hold up the others. */
  async add(segment: string, line: string, reason: string): Promise<void> {
    const path = join(this.#folder, basename(segment));
    try {
      await this.#disk.ask('appendLine', path, line, bounds.rejectedRecords);
      this.#log.error(`a malformed line of the journal was moved to ${path}: ${reason}`);
    } catch (error) {
      this.#log.error(`a malformed line of the journal was dropped (${reason})`, error);
      this.#onDropped(`a record that the database rejects could not be kept in ${this.#folder}`);
    }
  }
}
