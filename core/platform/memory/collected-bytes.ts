/** Larger chunks are kept as they are: the object around a chunk costs about 200 bytes. */
const largeChunkBytes = 4_096;
/** Smaller chunks are copied into blocks of half of what is held, within these limits. */
const blockBytes = { least: 4_096, most: 262_144 };
const nothing = Buffer.alloc(0);

/**
 * Bytes that are kept until all of them are there. What they hold in memory is bounded by their number, however they were
 * cut: a chunk of one byte is an object of 100 to 400 bytes, and often a slice that keeps the 64 KB alive that were read
 * from the socket with it. Small chunks are therefore copied into blocks; large ones, and the first, are kept as they came.
 */
export class CollectedBytes {
  #chunks: Buffer[] = [];
  #size = 0;
  #block: Buffer | undefined;
  #used = 0;

  get size(): number {
    return this.#size;
  }

  add(chunk: Buffer): void {
    if (this.#size === 0 || isLarge(chunk)) this.#keep(chunk);
    else this.#copy(chunk);
    this.#size += chunk.length;
  }

  bytes(): Buffer {
    this.#endBlock();
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#size);
  }

  /** Returns the bytes, in as many pieces as they are kept in, and keeps none of them. */
  takePieces(): readonly Buffer[] {
    this.#endBlock();
    const pieces = this.#chunks;
    this.clear();
    return pieces;
  }

  /** Returns the bytes and keeps none of them. */
  take(): Buffer {
    const bytes = this.bytes();
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#chunks = [];
    this.#size = 0;
    this.#block = undefined;
  }

  /** The last bytes: as many as there are, at most this many. */
  last(count: number): Buffer {
    const last = this.#block?.subarray(0, this.#used) ?? this.#chunks.at(-1);
    if (last === undefined || last.length >= count || last.length === this.#size)
      return last?.subarray(-count) ?? nothing;
    return this.bytes().subarray(-count);
  }

  #keep(chunk: Buffer): void {
    this.#endBlock();
    this.#chunks.push(chunk);
  }

  #copy(chunk: Buffer): void {
    let copied = 0;
    while (copied < chunk.length) {
      const room = this.#block ?? this.#addBlock();
      const count = chunk.copy(room, this.#used, copied);
      copied += count;
      this.#used += count;
      if (this.#used === room.length) this.#endBlock();
    }
  }

  #addBlock(): Buffer {
    const length = Math.min(blockBytes.most, Math.max(blockBytes.least, this.#size >> 1));
    // Not from the pool, all of which a slice would keep alive.
    this.#block = Buffer.allocUnsafeSlow(length);
    this.#used = 0;
    this.#chunks.push(this.#block);
    return this.#block;
  }

  #endBlock(): void {
    if (this.#block === undefined) return;
    this.#chunks[this.#chunks.length - 1] = this.#block.subarray(0, this.#used);
    this.#block = undefined;
  }
}

/** False also for a slice of something much larger. */
function isLarge(chunk: Buffer): boolean {
  return chunk.length >= largeChunkBytes && chunk.length * 4 >= chunk.buffer.byteLength;
}

/** Bytes of all pieces together. */
export function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
