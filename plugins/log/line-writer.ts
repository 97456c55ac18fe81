import { writeSync } from 'node:fs';
import { bounds } from '#core/bounds.ts';

const newline = 0x0a;

/** Ms after a failed write in which no other is tried. */
const retryAfter = 1_000;

/**
 * Lines on their way into a file. They wait in one buffer and go out together; `flush` returns when the kernel has
 * them. When the disk is full they stay in the buffer, and what has no room there any more is refused: a line is in the
 * file as a whole and in order, or not at all.
 */
export class LineWriter {
  readonly #buffer = Buffer.allocUnsafeSlow(bounds.journalLines);
  readonly #onFailure: (error: unknown) => void;
  #used = 0;
  #file: number;
  #written = 0;
  #failedAt: number | undefined;

  /** @param onFailure told once each time that writing begins to fail */
  constructor(file: number, onFailure: (error: unknown) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  /** Bytes written to the present file. */
  get written(): number {
    return this.#written;
  }

  /** Bytes that wait for the next flush. */
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

  /** Returns true when nothing waits any more. */
  flush(): boolean {
    if (this.#used === 0) return true;
    if (this.#failedAt !== undefined && performance.now() - this.#failedAt < retryAfter) return false;
    let offset = 0;
    try {
      while (offset < this.#used) offset += writeSync(this.#file, this.#buffer, offset, this.#used - offset);
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

  /** Goes on in another file. Nothing may be waiting. */
  switchTo(file: number): void {
    this.#file = file;
    this.#written = 0;
  }

  #hasRoomFor(line: string): boolean {
    return this.#used + line.length < bounds.journalLines;
  }
}
