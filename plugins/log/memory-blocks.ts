import { bounds } from '#core/platform/bounds.ts';

const blockBytes = 64 * 1024;

export class MemoryBudget {
  // All segments in memory share this limit.
  freeBytes = bounds.journalMemory;
}

export class MemoryBlocks {
  readonly #budget: MemoryBudget;
  readonly #blocks: Buffer[] = [];
  #usedBytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Appends all bytes, or throws and appends none. */
  append(bytes: Buffer, offset: number, length: number): void {
    this.#reserve(length);
    const end = offset + length;
    for (let position = offset; position < end;) {
      const blockOffset = this.#usedBytes % blockBytes;
      const block = this.#blocks[(this.#usedBytes - blockOffset) / blockBytes] as Buffer;
      const copiedBytes = bytes.copy(block, blockOffset, position, end);
      this.#usedBytes += copiedBytes;
      position += copiedBytes;
    }
  }

  /** Returns the bytes from a position to the end of its block, without copying them. */
  readAt(position: number): Buffer {
    const blockOffset = position % blockBytes;
    const block = this.#blocks[(position - blockOffset) / blockBytes];
    const length = Math.min(blockBytes - blockOffset, this.#usedBytes - position);
    return block?.subarray(blockOffset, blockOffset + length) ?? Buffer.alloc(0);
  }

  copy(): Buffer {
    return Buffer.concat(this.#blocks, this.#usedBytes);
  }

  /** A read that has started can still finish. */
  release(): void {
    this.#budget.freeBytes += this.#blocks.length * blockBytes;
  }

  #reserve(length: number): void {
    const missingBytes = this.#usedBytes + length - this.#blocks.length * blockBytes;
    const blockCount = Math.max(0, Math.ceil(missingBytes / blockBytes));
    if (blockCount * blockBytes > this.#budget.freeBytes)
      throw new Error(`${bounds.journalMemory} bytes of records already wait in memory`);
    this.#budget.freeBytes -= blockCount * blockBytes;
    for (let index = 0; index < blockCount; index++) this.#blocks.push(Buffer.allocUnsafeSlow(blockBytes));
  }
}
