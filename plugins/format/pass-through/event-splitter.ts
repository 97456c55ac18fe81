import { bounds } from '#core/bounds.ts';

const none = Buffer.alloc(0);
const LF = 0x0a;
const CR = 0x0d;

/**
 * Cuts a stream of bytes behind the last blank line seen, so that only whole events go on. What comes after waits for
 * its end. Bytes are never decoded here; a character split between chunks stays as it came.
 */
export class EventSplitter {
  #waiting: Buffer[] = [];
  #size = 0;

  /** True when an event has grown beyond what any vendor sends. */
  get isOverfull(): boolean {
    return this.#size > bounds.event;
  }

  /** Returns the whole events that have come, or an empty buffer. */
  push(chunk: Buffer): Buffer {
    const end = endOfLastEvent(chunk, this.#tail());
    if (end === 0) {
      this.#waiting.push(chunk);
      this.#size += chunk.length;
      return none;
    }
    const events =
      this.#size === 0 ? chunk.subarray(0, end) : Buffer.concat([...this.#waiting, chunk.subarray(0, end)]);
    this.#waiting = end < chunk.length ? [chunk.subarray(end)] : [];
    this.#size = chunk.length - end;
    return events;
  }

  /** What waits for an end that does not come. Standard: an event without its blank line is still dispatched by no one. */
  rest(): Buffer {
    const rest = this.#waiting.length === 1 ? (this.#waiting[0] as Buffer) : Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#size = 0;
    return rest;
  }

  /** The last bytes that wait; a blank line may begin in them. */
  #tail(): Buffer {
    if (this.#size === 0) return none;
    const last = this.#waiting.at(-1) as Buffer;
    if (last.length >= 3 || this.#waiting.length === 1) return last.subarray(-3);
    return Buffer.concat(this.#waiting.slice(-3)).subarray(-3);
  }
}

/** Index in `chunk` behind its last blank line, which may have begun in `tail`; 0 when there is none. */
function endOfLastEvent(chunk: Buffer, tail: Buffer): number {
  let lf = lastBefore(chunk, LF, chunk.length);
  // A CR that ends the chunk does not count yet: an LF that belongs to it may follow.
  let cr = lastBefore(chunk, CR, chunk.length - 1);
  while (lf !== -1 || cr !== -1) {
    const end = Math.max(lf, cr) + 1;
    if (isBlankBefore(chunk, end, tail)) return end;
    if (lf > cr) lf = lastBefore(chunk, LF, lf);
    else cr = lastBefore(chunk, CR, cr);
  }
  return 0;
}

/** Index of the last such byte before `end`; -1 when there is none. */
function lastBefore(chunk: Buffer, byte: number, end: number): number {
  return end > 0 ? chunk.lastIndexOf(byte, end - 1) : -1;
}

/** True when the line that ends just before `end` is empty, that is when another line end comes right before it. */
function isBlankBefore(chunk: Buffer, end: number, tail: Buffer): boolean {
  const at = (index: number) => (index >= 0 ? chunk[index] : tail[tail.length + index]);
  const isCrLf = at(end - 1) === LF && at(end - 2) === CR;
  const before = at(end - (isCrLf ? 3 : 2));
  return before === LF || before === CR;
}
