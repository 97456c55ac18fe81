import { sizeOf } from './collected-bytes.ts';
import { freeBytes } from './freed-bytes.ts';

/**
 * Chunk size in bytes for decoding a longBuffers body. Each chunk is a round trip to the thread pool: Node's default of 16 KiB takes two to four
 * times the CPU. The decoder allocates a whole chunk at once, so callers reserve this much memory.
 */
export const longPiece = 262_144;

/**
 * Copies a short body out of the longBuffers chunk it was decoded into, and frees that chunk. Call it with all of the decoder's output, once the
 * decoder has ended.
 */
export function withoutSlack(pieces: readonly Buffer[]): readonly Buffer[] {
  const size = sizeOf(pieces);
  const longBuffers = new Set(pieces.map(({ buffer }) => buffer).filter(({ byteLength }) => byteLength === longPiece));
  if (longBuffers.size === 0 || size * 4 >= longPiece) return pieces;
  // Not from Buffer's pool: a slice would keep all of the pool alive.
  const copy = Buffer.allocUnsafeSlow(size);
  let copied = 0;
  for (const piece of pieces) copied += piece.copy(copy, copied);
  freeBytes(Array.from(longBuffers, (memory) => Buffer.from(memory)));
  return [copy];
}
