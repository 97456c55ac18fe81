import { bounds } from '#core/platform/bounds.ts';

const blockBytes = 64 * 1024;

/** A memory limit shared by several owners. */
export class MemoryBudget {
  free = bounds.journalMemory;
}

/** Bytes in memory, gathered into blocks. */
export class MemoryBlocks {
  readonly #budget: MemoryBudget;
  readonly #blocks: Buffer[] = [];
  #used = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** @throws Error if the budget has no room for all bytes; none are taken then */
  append(bytes: Buffer, offset: number, length: number): void {
    this.#reserve(length);
    const end = offset + length;
    for (let from = offset; from < end;) {
      const place = this.#used % blockBytes;
      const block = this.#blocks[(this.#used - place) / blockBytes] as Buffer;
      const taken = bytes.copy(block, place, from, end);
      this.#used += taken;
      from += taken;
    }
  }

  /** The bytes from a position on, up to the end of a block; none at the end. They may change later. */
  readAt(position: number): Buffer {
    const place = position % blockBytes;
    const block = this.#blocks[(position - place) / blockBytes];
    return block?.subarray(place, place + Math.min(blockBytes - place, this.#used - position)) ?? Buffer.alloc(0);
  }

  copy(): Buffer {
    return Buffer.concat(this.#blocks, this.#used);
  }

  /** Returns the bytes to the budget. A reader may still finish. */
  release(): void {
    this.#budget.free += this.#blocks.length * blockBytes;
  }

  #reserve(length: number): void {
    const missing = this.#used + length - this.#blocks.length * blockBytes;
    const count = Math.max(0, Math.ceil(missing / blockBytes));
    if (count * blockBytes > this.#budget.free)
      throw new Error(`${bounds.journalMemory} bytes of records wait in memory already`);
    this.#budget.free -= count * blockBytes;
    for (let index = 0; index < count; index++) this.#blocks.push(Buffer.allocUnsafeSlow(blockBytes));
  }
}
