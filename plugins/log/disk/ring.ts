/*
 * Lines on their way to the writing thread, in memory that both threads share. A frame is a file descriptor and a length, 4 bytes
 * each, then whole lines, padded to a multiple of 8 bytes; lines may wrap around to the start of the ring. Positions count bytes
 * since the start and wrap as 32-bit integers.
 */

/** Indexes of the control words. */
export const word = {
  /** End of the last frame; written by the main thread. */
  head: 0,
  /** End of the last frame that is in its file; written by the other thread, and by the main thread after that has failed. */
  done: 1,
  /** Changed to wake the thread. */
  bell: 2,
  /** 1 while the thread waits for the bell, or is about to. */
  isAsleep: 3,
  /** 1 while the main thread waits for `done` to change. */
  isAwaited: 4,
  /** 1 after a failed write or the end of the thread, until the main thread has taken back the unwritten lines. */
  hasFailed: 5,
  /** Bytes of the frame at `done` that are in its file. */
  written: 6,
  /** Number of operations requested of the thread. */
  asked: 7,
  /** 1 once the thread has started. */
  hasStarted: 8,
  /** 1 while the thread is working; a woken thread at 0 waits for the processor, not for the disk. */
  isAtWork: 9,
  /** The thread's id, as Linux counts threads; 0 on other systems. */
  threadId: 10,
} as const;

const controlBytes = 64;
const headBytes = 8;

const capacityBytes = 512 * 1024; // a power of two, more than the longest line
const mask = capacityBytes - 1;
const newline = 0x0a;

/** Lines of a frame that are not in their file yet. */
export interface Unwritten {
  readonly file: number;
  readonly lines: Buffer;
}

export class Ring {
  readonly shared: SharedArrayBuffer;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly #heads: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Buffer;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(controlBytes + capacityBytes)) {
    this.shared = shared;
    this.control = new Int32Array(shared, 0, controlBytes / 4);
    this.#heads = new Int32Array(shared, controlBytes, capacityBytes / 4);
    this.#bytes = Buffer.from(shared, controlBytes, capacityBytes);
  }

  get head(): number {
    return Atomics.load(this.control, word.head);
  }

  get done(): number {
    return Atomics.load(this.control, word.done);
  }

  get isEmpty(): boolean {
    return this.done === this.head;
  }

  /** True if all lines before this position, a former head, are in their files. */
  hasWritten(position: number): boolean {
    // Only the last bytes can be unwritten. Without this check, a position would count as ahead again once 2 GiB have followed it.
    const isFarBehind = (this.head - position) >>> 0 > capacityBytes;
    return isFarBehind || ((this.done - position) | 0) >= 0;
  }

  /** Adds the whole lines that fit. @returns number of bytes added; 0 without room */
  append(file: number, bytes: Buffer, offset: number, length: number): number {
    const { head } = this;
    const room = capacityBytes - ((head - this.done) | 0) - headBytes;
    const taken = length <= room ? length : bytes.subarray(offset, offset + Math.max(room, 0)).lastIndexOf(newline) + 1;
    if (taken === 0) return 0;
    const at = head & mask;
    this.#heads[at / 4] = file;
    this.#heads[at / 4 + 1] = taken;
    const start = (at + headBytes) & mask;
    const first = Math.min(taken, capacityBytes - start);
    bytes.copy(this.#bytes, start, offset, offset + first);
    bytes.copy(this.#bytes, 0, offset + first, offset + taken);
    Atomics.store(this.control, word.head, (head + sizeOf(taken)) | 0);
    return taken;
  }

  /** Counts a requested operation. */
  noteQuestion(): void {
    Atomics.add(this.control, word.asked, 1);
  }

  /**
   * Settles at the next change of `done`; undefined if it has already changed.
   *
   * @param done last known value
   */
  nextWritten(done: number): Promise<unknown> | undefined {
    const change = Atomics.waitAsync(this.control, word.done, done);
    if (!change.async) return undefined;
    // Set before `done` is checked again: the thread notifies only while it is set, and may have moved `done` before.
    Atomics.store(this.control, word.isAwaited, 1);
    if (this.done !== done) Atomics.notify(this.control, word.done);
    return change.value;
  }

  /**
   * Passes each frame on to a function that writes it, oldest first.
   *
   * @param write returns the number of these bytes that it has written
   * @throws the error of `write`; the control word `written` then has the position reached
   */
  writeFrames(
    write: (file: number, bytes: Buffer, offset: number, length: number) => number,
    onWritten: () => void,
  ): void {
    for (let { done } = this; done !== this.head;) {
      const { file, start, length } = this.#frameAt(done);
      for (let written = 0; written < length;) {
        this.control[word.written] = written;
        const from = (start + written) & mask;
        written += write(file, this.#bytes, from, Math.min(length - written, capacityBytes - from));
      }
      done = (done + sizeOf(length)) | 0;
      this.control[word.written] = 0;
      Atomics.store(this.control, word.done, done);
      onWritten();
    }
  }

  /** Copies of the lines that are not in their files yet. */
  unwritten(): Unwritten[] {
    const { head } = this;
    const found: Unwritten[] = [];
    const hasFailed = this.control[word.hasFailed] === 1;
    for (let at = this.done; at !== head;) {
      const { file, start, length } = this.#frameAt(at);
      const first = Math.min(length, capacityBytes - start);
      const lines = Buffer.concat([
        this.#bytes.subarray(start, start + first),
        this.#bytes.subarray(0, length - first),
      ]);
      // The file keeps the written part as a truncated last line.
      const written = hasFailed && found.length === 0 ? (this.control[word.written] as number) : 0;
      const whole = written === 0 ? 0 : lines.lastIndexOf(newline, written - 1) + 1;
      found.push({ file, lines: lines.subarray(whole) });
      at = (at + sizeOf(length)) | 0;
    }
    return found;
  }

  /** Discards unwritten lines. Allowed only after the thread has failed, because it then leaves the ring alone. */
  clear(): void {
    Atomics.store(this.control, word.done, this.head);
    Atomics.store(this.control, word.hasFailed, 0);
  }

  /** Prepares the ring for a new thread while none runs. Frames are kept. */
  reset(): void {
    const states = [
      word.isAsleep,
      word.hasFailed,
      word.written,
      word.asked,
      word.hasStarted,
      word.isAtWork,
      word.threadId,
    ];
    for (const state of states) Atomics.store(this.control, state, 0);
  }

  #frameAt(position: number): { readonly file: number; readonly start: number; readonly length: number } {
    const at = position & mask;
    return {
      file: this.#heads[at / 4] as number,
      start: (at + headBytes) & mask,
      length: this.#heads[at / 4 + 1] as number,
    };
  }
}

function sizeOf(length: number): number {
  return headBytes + Math.ceil(length / 8) * 8;
}
