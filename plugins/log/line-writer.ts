import { bounds } from '#core/platform/bounds.ts';

const newline = 0x0a;

/** Target of appended lines. */
export interface LineSink {
  /** @returns number of bytes taken. @throws Error if it can take none now */
  append(bytes: Buffer, offset: number, length: number): number;
}

/**
 * Appends lines to a sink through one buffer; after `flush` the sink has them. Lines reach a sink whole and in order: when a
 * sink fails inside a line, the next sink gets the whole line. Lines stay in the buffer while there is no other sink, and
 * lines that do not fit are refused.
 */
export class LineWriter {
  readonly #buffer = Buffer.allocUnsafeSlow(bounds.journalLines);
  readonly #replace: (error: unknown) => LineSink | undefined;
  #used = 0;
  #sink: LineSink;

  /** @param replace returns the sink that replaces a failed one; undefined if there is none now */
  constructor(sink: LineSink, replace: (error: unknown) => LineSink | undefined) {
    this.#sink = sink;
    this.#replace = replace;
  }

  /** Bytes in the buffer. */
  get waiting(): number {
    return this.#used;
  }

  /** Lines in the buffer that begin with this text. */
  countWaiting(start: string): number {
    return countLines(start, [this.#buffer.subarray(0, this.#used)]);
  }

  /**
   * @param line ASCII, without a line break
   * @returns false if there is no room
   */
  add(line: string): boolean {
    if (!this.#hasRoomFor(line) && (!this.flush() || !this.#hasRoomFor(line))) return false;
    this.#used += this.#buffer.write(line, this.#used, 'latin1');
    this.#buffer[this.#used++] = newline;
    return true;
  }

  /** Writes the buffer to the sink. Returns true if the buffer is empty. */
  flush(): boolean {
    while (this.#used > 0) {
      const written = this.#write();
      if (written === true) return true;
      const next = this.#replace(written.error);
      if (next === undefined) return false;
      this.#sink = next;
    }
    return true;
  }

  /** Continues in another sink. The buffer must be empty. */
  switchTo(sink: LineSink): void {
    this.#sink = sink;
  }

  #write(): true | { readonly error: unknown } {
    let offset = 0;
    try {
      while (offset < this.#used) offset += this.#sink.append(this.#buffer, offset, this.#used - offset);
      this.#used = 0;
      return true;
    } catch (error) {
      // The failed sink keeps the written part as a truncated last line.
      const whole = offset === 0 ? 0 : this.#buffer.lastIndexOf(newline, offset - 1) + 1;
      this.#buffer.copyWithin(0, whole, this.#used);
      this.#used -= whole;
      return { error };
    }
  }

  #hasRoomFor(line: string): boolean {
    return this.#used + line.length < bounds.journalLines;
  }
}

/** Counts the lines that begin with this text, in pieces of whole lines. */
export function countLines(start: string, pieces: readonly Buffer[]): number {
  const lines = pieces.flatMap((piece) => piece.toString('latin1').split('\n'));
  return lines.filter((line) => line.startsWith(start)).length;
}
