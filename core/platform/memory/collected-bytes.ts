const largeChunkBytes = 4_096; // larger chunks are not copied; the object around a chunk costs about 200 bytes
const blockBytes = { min: 4_096, max: 262_144 }; // of blocks for smaller chunks, half the collected size
const emptyBuffer = Buffer.alloc(0);

/**
 * Collects the bytes of a body. Memory use is proportional to the number of bytes, regardless of the chunks' sizes. A chunk of one byte is
 * an object of 100 to 400 bytes, and often a slice that keeps the 64 KB read buffer of the socket alive. Small chunks are therefore copied
 * into blocks; large chunks, and the first one, are kept as received.
 */
export class CollectedBytes {
  #chunks: Buffer[] = [];
  #size = 0;
  #block: Buffer | undefined;
  #blockLength = 0;

  get size(): number {
    return this.#size;
  }

  add(chunk: Buffer): void {
    if (this.#size === 0 || isLarge(chunk)) this.#append(chunk);
    else this.#copy(chunk);
    this.#size += chunk.length;
  }

  join(): Buffer {
    this.#endBlock();
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#size);
  }

  takeChunks(): readonly Buffer[] {
    this.#endBlock();
    const chunks = this.#chunks;
    this.clear();
    return chunks;
  }

  take(): Buffer {
    const bytes = this.join();
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#chunks = [];
    this.#size = 0;
    this.#block = undefined;
  }

  /** Returns the last `count` bytes, or all if there are fewer. */
  lastBytes(count: number): Buffer {
    const lastChunk = this.#block?.subarray(0, this.#blockLength) ?? this.#chunks.at(-1);
    if (lastChunk === undefined) return emptyBuffer;
    if (lastChunk.length >= count || lastChunk.length === this.#size) return lastChunk.subarray(-count);
    return this.join().subarray(-count);
  }

  #append(chunk: Buffer): void {
    this.#endBlock();
    this.#chunks.push(chunk);
  }

  #copy(chunk: Buffer): void {
    let copied = 0;
    while (copied < chunk.length) {
      const block = this.#block ?? this.#addBlock();
      const count = chunk.copy(block, this.#blockLength, copied);
      copied += count;
      this.#blockLength += count;
      if (this.#blockLength === block.length) this.#endBlock();
    }
  }

  #addBlock(): Buffer {
    const length = Math.min(blockBytes.max, Math.max(blockBytes.min, this.#size >> 1));
    // Not from Buffer's pool, because a slice would keep the whole pool alive.
    this.#block = Buffer.allocUnsafeSlow(length);
    this.#blockLength = 0;
    this.#chunks.push(this.#block);
    return this.#block;
  }

  #endBlock(): void {
    if (this.#block === undefined) return;
    this.#chunks[this.#chunks.length - 1] = this.#block.subarray(0, this.#blockLength);
    this.#block = undefined;
  }
}

function isLarge(chunk: Buffer): boolean {
  return chunk.length >= largeChunkBytes && chunk.length * 4 >= chunk.buffer.byteLength; // a slice keeps its buffer alive
}

export function sumSizes(buffers: readonly Buffer[]): number {
  return buffers.reduce((sum, { length }) => sum + length, 0);
}
