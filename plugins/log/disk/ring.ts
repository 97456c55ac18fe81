/*
 * Lines on their way to the writing thread, in memory that both threads share. A frame has a file descriptor and a length, 4 bytes each,
 * followed by complete lines and padded to a multiple of 8 bytes. Lines may wrap around to the start of the ring. Positions count bytes
 * since the start and wrap as 32-bit integers.
 */

export const controlWord = {
  head: 0, // end of the last frame; written by the main thread
  done: 1, // end of the last frame that is in its file; written by the writing thread or, after it has failed, by the main thread
  wakeCount: 2, // changes when the thread is woken
  isAsleep: 3, // 1 while the thread waits for `wakeCount` to change, or is about to
  isAwaited: 4, // 1 while the main thread waits for `done` to change
  hasFailed: 5, // 1 after a failed write or the end of the thread, until the main thread has taken back the unwritten lines
  written: 6, // how many bytes of the frame at `done` are in its file
  requestCount: 7, // how many operations the thread was asked to run
  hasStarted: 8, // 1 once the thread has started
  isWorking: 9, // 1 while the thread works; if it was woken and this is 0, it waits for the processor, not for the disk
  threadId: 10, // thread id on Linux; 0 on other systems
} as const;

const controlBytes = 64;
const headBytes = 8;

const capacityBytes = 512 * 1024; // a power of two, and more than the longest line
const positionMask = capacityBytes - 1;
const newline = 0x0a;

export interface UnwrittenLines {
  readonly file: number;
  readonly lines: Buffer;
}

export class Ring {
  readonly shared: SharedArrayBuffer;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly #frameHeads: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Buffer;

  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(controlBytes + capacityBytes)) {
    this.shared = shared;
    this.control = new Int32Array(shared, 0, controlBytes / 4);
    this.#frameHeads = new Int32Array(shared, controlBytes, capacityBytes / 4);
    this.#bytes = Buffer.from(shared, controlBytes, capacityBytes);
  }

  get head(): number {
    return Atomics.load(this.control, controlWord.head);
  }

  get done(): number {
    return Atomics.load(this.control, controlWord.done);
  }

  get isEmpty(): boolean {
    return this.done === this.head;
  }

  /** @param position earlier value of `head` */
  hasWritten(position: number): boolean {
    // Only the last `capacityBytes` can be unwritten. Without this check, a position would seem unwritten again after another 2 GiB.
    const isFarBehind = (this.head - position) >>> 0 > capacityBytes;
    return isFarBehind || ((this.done - position) | 0) >= 0;
  }

  /** Adds as many complete lines as fit. Returns the number of bytes added. */
  append(file: number, bytes: Buffer, offset: number, length: number): number {
    const { head } = this;
    const room = capacityBytes - ((head - this.done) | 0) - headBytes;
    const frameLength =
      length <= room ? length : bytes.subarray(offset, offset + Math.max(room, 0)).lastIndexOf(newline) + 1;
    if (frameLength === 0) return 0;
    const frameOffset = head & positionMask;
    this.#frameHeads[frameOffset / 4] = file;
    this.#frameHeads[frameOffset / 4 + 1] = frameLength;
    const linesOffset = (frameOffset + headBytes) & positionMask;
    const firstPart = Math.min(frameLength, capacityBytes - linesOffset);
    bytes.copy(this.#bytes, linesOffset, offset, offset + firstPart);
    bytes.copy(this.#bytes, 0, offset + firstPart, offset + frameLength);
    Atomics.store(this.control, controlWord.head, (head + frameBytes(frameLength)) | 0);
    return frameLength;
  }

  countRequest(): void {
    Atomics.add(this.control, controlWord.requestCount, 1);
  }

  /** Resolves when `done` changes from the last known value; undefined if it has already changed. */
  awaitNextWrite(done: number): Promise<unknown> | undefined {
    const change = Atomics.waitAsync(this.control, controlWord.done, done);
    if (!change.async) return undefined;
    // Set before `done` is checked again: the thread notifies only while this is set, and may have changed `done` before.
    Atomics.store(this.control, controlWord.isAwaited, 1);
    if (this.done !== done) Atomics.notify(this.control, controlWord.done);
    return change.value;
  }

  /** @param write returns how many bytes it has written; if it throws, the control word `written` says how far it got */
  writeFrames(
    write: (file: number, bytes: Buffer, offset: number, length: number) => number,
    onWritten: () => void,
  ): void {
    for (let { done } = this; done !== this.head;) {
      const { file, start, length } = this.#readFrame(done);
      for (let written = 0; written < length;) {
        this.control[controlWord.written] = written;
        const writeOffset = (start + written) & positionMask;
        written += write(file, this.#bytes, writeOffset, Math.min(length - written, capacityBytes - writeOffset));
      }
      done = (done + frameBytes(length)) | 0;
      this.control[controlWord.written] = 0;
      Atomics.store(this.control, controlWord.done, done);
      onWritten();
    }
  }

  copyUnwritten(): UnwrittenLines[] {
    const { head } = this;
    const unwritten: UnwrittenLines[] = [];
    const hasFailed = this.control[controlWord.hasFailed] === 1;
    for (let position = this.done; position !== head;) {
      const { file, start, length } = this.#readFrame(position);
      const firstPart = Math.min(length, capacityBytes - start);
      const lines = Buffer.concat([
        this.#bytes.subarray(start, start + firstPart),
        this.#bytes.subarray(0, length - firstPart),
      ]);
      // The written part stays in the file, as a truncated last line.
      const written = hasFailed && unwritten.length === 0 ? (this.control[controlWord.written] as number) : 0;
      const partialEnd = written === 0 ? 0 : lines.lastIndexOf(newline, written - 1) + 1;
      unwritten.push({ file, lines: lines.subarray(partialEnd) });
      position = (position + frameBytes(length)) | 0;
    }
    return unwritten;
  }

  /** Allowed only after the thread has failed, when it no longer accesses the ring. */
  clear(): void {
    Atomics.store(this.control, controlWord.done, this.head);
    Atomics.store(this.control, controlWord.hasFailed, 0);
  }

  /** Allowed only while no thread is running. The frames stay. */
  reset(): void {
    const states = [
      controlWord.isAsleep,
      controlWord.hasFailed,
      controlWord.written,
      controlWord.requestCount,
      controlWord.hasStarted,
      controlWord.isWorking,
      controlWord.threadId,
    ];
    for (const state of states) Atomics.store(this.control, state, 0);
  }

  #readFrame(position: number): { readonly file: number; readonly start: number; readonly length: number } {
    const offset = position & positionMask;
    return {
      file: this.#frameHeads[offset / 4] as number,
      start: (offset + headBytes) & positionMask,
      length: this.#frameHeads[offset / 4 + 1] as number,
    };
  }
}

function frameBytes(length: number): number {
  return headBytes + Math.ceil(length / 8) * 8;
}
