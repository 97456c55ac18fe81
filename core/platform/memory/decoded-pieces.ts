import { sumSizes } from './collected-bytes.ts';
import { freeBytes } from './freed-bytes.ts';

/**
 * Chunk size in bytes for decoding a long body. Each chunk is a round trip to the thread pool, so Node's default of 16 KiB takes two to
 * four times the CPU. The decoder allocates a whole chunk at once, so callers reserve this much memory.
 */
export const longChunkBytes = 262_144;

/**
 * Copies a short body out of the long chunks that it was decoded into, and frees them. Returns other bodies unchanged.
 *
 * @param chunks complete output of a decoder that has ended
 */
export function trimChunks(chunks: readonly Buffer[]): readonly Buffer[] {
  const size = sumSizes(chunks);
  const longBuffers = new Set(
    chunks.map(({ buffer }) => buffer).filter(({ byteLength }) => byteLength === longChunkBytes),
  );
  if (longBuffers.size === 0 || size * 4 >= longChunkBytes) return chunks;
  // Not from Buffer's pool, because a slice would keep the whole pool alive.
  const copy = Buffer.allocUnsafeSlow(size);
  let copied = 0;
  for (const chunk of chunks) copied += chunk.copy(copy, copied);
  freeBytes(Array.from(longBuffers, (buffer) => Buffer.from(buffer)));
  return [copy];
}
