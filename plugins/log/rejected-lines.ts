import { basename, join } from 'node:path';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Disk } from './disk/contract.ts';
import { listFolder } from './disk/list-folder.ts';

const measureIntervalMs = 60_000;

/** Stores lines that cannot become records in one file per segment, for the operator. */
export class RejectedLines {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #log: Logger;
  readonly #onDrop: (reason: string) => void;
  #bytes = 0; // in the folder, without what other instances have added since it was measured
  #measuredAt = Number.NEGATIVE_INFINITY;

  /** @param onDrop called for each line that could not be stored */
  constructor(disk: Disk, folder: string, log: Logger, onDrop: (reason: string) => void) {
    this.#disk = disk;
    this.#folder = folder;
    this.#log = log;
    this.#onDrop = onDrop;
  }

  /** Never throws, because a malformed line must not hold up others. */
  async add(segment: string, line: string, reason: string): Promise<void> {
    const path = join(this.#folder, basename(segment));
    try {
      if (performance.now() - this.#measuredAt > measureIntervalMs) await this.#measure();
      if (this.#bytes + line.length > bounds.rejectedRecords)
        throw new Error(`the folder has reached its limit of ${bounds.rejectedRecords} bytes`);
      await this.#disk.run('appendLine', path, line);
      this.#bytes += line.length + 1;
      this.#log.error(`a malformed journal line was moved to ${path}: ${reason}`);
    } catch (error) {
      this.#log.error(`a malformed journal line was dropped (${reason})`, error);
      this.#onDrop(`a record that the database rejects could not be kept in ${this.#folder}`);
    }
  }

  async #measure(): Promise<void> {
    let bytes = 0;
    for await (const entries of listFolder(this.#disk, this.#folder)) for (const entry of entries) bytes += entry.bytes;
    this.#bytes = bytes;
    this.#measuredAt = performance.now();
  }
}
