/** Larger chunks are not copied: the object around a chunk costs about 200 bytes. */
const largeChunkBytes = 4_096;
/** Smaller chunks are copied into blocks of half the collected size, within these limits (bytes). */
const blockBytes = { min: 4_096, max: 262_144 };
const empty = Buffer.alloc(0);

/**
 * Collects the bytes of a body. Memory use is proportional to the number of bytes, however they are split: a chunk of one byte is an object
 * of 100 to 400 bytes, and often a slice that keeps the 64 KB read buffer of the socket alive. Small chunks are therefore copied into
 * blocks; large ones, and the first, are kept as received.
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
    if (this.#size === 0 || isLarge(chunk)) this.#keep(chunk);
    else this.#copy(chunk);
    this.#size += chunk.length;
  }

  bytes(): Buffer {
    this.#endBlock();
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#size);
  }

  /** Removes and returns the bytes in their current pieces. */
  takePieces(): readonly Buffer[] {
    this.#endBlock();
    const pieces = this.#chunks;
    this.clear();
    return pieces;
  }

  /** Removes and returns the bytes. */
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

  /** The last bytes, at most `count`. */
  last(count: number): Buffer {
    const last = this.#block?.subarray(0, this.#blockLength) ?? this.#chunks.at(-1);
    if (last === undefined || last.length >= count || last.length === this.#size)
      return last?.subarray(-count) ?? empty;
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
      const count = chunk.copy(room, this.#blockLength, copied);
      copied += count;
      this.#blockLength += count;
      if (this.#blockLength === room.length) this.#endBlock();
    }
  }

  #addBlock(): Buffer {
    const length = Math.min(blockBytes.max, Math.max(blockBytes.min, this.#size >> 1));
    // Not from Buffer's pool: a slice would keep all of the pool alive.
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

/** False for a slice of a much larger buffer: keeping it would keep the buffer alive. */
function isLarge(chunk: Buffer): boolean {
  return chunk.length >= largeChunkBytes && chunk.length * 4 >= chunk.buffer.byteLength;
}

export function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
