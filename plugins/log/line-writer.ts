import { bounds } from '#core/platform/bounds.ts';

const newline = 0x0a;

export interface LineSink {
  /** Returns the number of bytes appended. Throws if no bytes can be appended now. */
  append(bytes: Buffer, offset: number, length: number): number;
}

/**
 * Appends lines to a sink through one buffer, which `flush` empties. Lines reach a sink complete and in order: if a sink fails in the
 * middle of a line, the next one gets the complete line. While there is no next sink, lines stay in the buffer, and those that do not fit
 * are refused.
 */
export class LineWriter {
  readonly #buffer = Buffer.allocUnsafeSlow(bounds.journalLines);
  readonly #replaceSink: (error: unknown) => LineSink | undefined;
  #usedBytes = 0;
  #sink: LineSink;

  /** @param replaceSink returns the sink that replaces a failed one; undefined if there is none now */
  constructor(sink: LineSink, replaceSink: (error: unknown) => LineSink | undefined) {
    this.#sink = sink;
    this.#replaceSink = replaceSink;
  }

  get waitingBytes(): number {
    return this.#usedBytes;
  }

  countWaiting(start: string): number {
    return countLines(start, [this.#buffer.subarray(0, this.#usedBytes)]);
  }

  /**
   * Returns false if there is no room.
   *
   * @param line ASCII, without a line break
   */
  add(line: string): boolean {
    if (!this.#hasRoomFor(line) && (!this.flush() || !this.#hasRoomFor(line))) return false;
    this.#usedBytes += this.#buffer.write(line, this.#usedBytes, 'latin1');
    this.#buffer[this.#usedBytes++] = newline;
    return true;
  }

  /** Returns true if the buffer is now empty. */
  flush(): boolean {
    while (this.#usedBytes > 0) {
      const result = this.#tryWrite();
      if (result === true) return true;
      const next = this.#replaceSink(result.error);
      if (next === undefined) return false;
      this.#sink = next;
    }
    return true;
  }

  /** The buffer must be empty. */
  switchTo(sink: LineSink): void {
    this.#sink = sink;
  }

  #tryWrite(): true | { readonly error: unknown } {
    let offset = 0;
    try {
      while (offset < this.#usedBytes) offset += this.#sink.append(this.#buffer, offset, this.#usedBytes - offset);
      this.#usedBytes = 0;
      return true;
    } catch (error) {
      // The written part stays in the failed sink, as a truncated last line.
      const wholeLinesEnd = offset === 0 ? 0 : this.#buffer.lastIndexOf(newline, offset - 1) + 1;
      this.#buffer.copyWithin(0, wholeLinesEnd, this.#usedBytes);
      this.#usedBytes -= wholeLinesEnd;
      return { error };
    }
  }

  #hasRoomFor(line: string): boolean {
    return this.#usedBytes + line.length < bounds.journalLines;
  }
}

/** @param chunks contain only complete lines */
export function countLines(start: string, chunks: readonly Buffer[]): number {
  const lines = chunks.flatMap((chunk) => chunk.toString('latin1').split('\n'));
  return lines.filter((line) => line.startsWith(start)).length;
}
