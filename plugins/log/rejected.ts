import { appendFile, mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';

/** Keeps the lines that cannot become records for the operator, in one file per segment. */
export class Rejected {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #onDropped: (reason: string) => void;

  /** @param onDropped called for each line that could not be kept */
  constructor(folder: string, log: Logger, onDropped: (reason: string) => void) {
    this.#folder = folder;
    this.#log = log;
    this.#onDropped = onDropped;
  }

  /** Never throws: a malformed line must not hold up the others. */
  async add(segment: string, line: string, reason: string): Promise<void> {
    const path = join(this.#folder, basename(segment));
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      if ((await this.#size()) + line.length > bounds.rejectedRecords)
        throw new Error(`the folder has reached its limit of ${bounds.rejectedRecords} bytes`);
      await appendFile(path, `${line}\n`, { mode: 0o600 });
      this.#log.error(`a malformed line of the journal was moved to ${path}: ${reason}`);
    } catch (error) {
      this.#log.error(`a malformed line of the journal was dropped (${reason})`, error);
      this.#onDropped(`a record that the database rejects could not be kept in ${this.#folder}`);
    }
  }

  async #size(): Promise<number> {
    const files = await readdir(this.#folder);
    const sizes = await Promise.all(files.map(async (file) => (await stat(join(this.#folder, file))).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  }
}
