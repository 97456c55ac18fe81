import { writeSync } from 'node:fs';
import { bounds } from '#core/bounds.ts';

const newline = 0x0a;

/** Ms between a failed write and the next attempt. */
const retryAfter = 1_000;

/**
 * Appends lines to a file through one buffer; after `flush` the kernel has them. While the disk is full they stay in the
 * buffer, and lines that do not fit are refused: a line is in the file as a whole and in order, or not at all.
 */
export class LineWriter {
  readonly #buffer = Buffer.allocUnsafeSlow(bounds.journalLines);
  readonly #onFailure: (error: unknown) => void;
  readonly #onRecovery: () => void;
  #used = 0;
  #file: number;
  #written = 0;
  #failedAt: number | undefined;

  /**
   * @param onFailure called once whenever writing begins to fail
   * @param onRecovery called when it works again
   */
  constructor(file: number, onFailure: (error: unknown) => void, onRecovery: () => void = () => {}) {
    this.#file = file;
    this.#onFailure = onFailure;
    this.#onRecovery = onRecovery;
  }

  /** Bytes written to the current file. */
  get written(): number {
    return this.#written;
  }

  /** Bytes in the buffer. */
  get waiting(): number {
    return this.#used;
  }

  /**
   * @param line ASCII, without a line break
   * @returns false when there is no room
   */
  add(line: string): boolean {
    if (!this.#hasRoomFor(line) && (!this.flush() || !this.#hasRoomFor(line))) return false;
    this.#used += this.#buffer.write(line, this.#used, 'latin1');
    this.#buffer[this.#used++] = newline;
    return true;
  }

  /** Returns true when the buffer is empty. */
  flush(): boolean {
    if (this.#used === 0) return true;
    if (this.#failedAt !== undefined && performance.now() - this.#failedAt < retryAfter) return false;
    let offset = 0;
    try {
      while (offset < this.#used) offset += writeSync(this.#file, this.#buffer, offset, this.#used - offset);
      if (this.#failedAt !== undefined) this.#onRecovery();
      this.#failedAt = undefined;
    } catch (error) {
      this.#buffer.copyWithin(0, offset, this.#used);
      if (this.#failedAt === undefined) this.#onFailure(error);
      this.#failedAt = performance.now();
    }
    this.#used -= offset;
    this.#written += offset;
    return this.#used === 0;
  }

  /** Continues in another file. The buffer must be empty. */
  switchTo(file: number): void {
    this.#file = file;
    this.#written = 0;
  }

  #hasRoomFor(line: string): boolean {
    return this.#used + line.length < bounds.journalLines;
  }
}
