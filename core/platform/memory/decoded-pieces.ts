import { sizeOf } from './collected-bytes.ts';
import { freeBytes } from './freed-bytes.ts';

/**
 * Bytes of the pieces in which a decoder writes a long body. Each piece is a round trip to the thread pool: those of 16 KiB, which is
 * Node's default, take two to four times the CPU. The decoder allocates each as a whole, so callers reserve one.
 */
export const longPiece = 262_144;

/**
 * Makes what is left of a short body independent of the long piece that it was written to, which is freed. Call it when the decoder has
 * ended, with all that it wrote.
 */
export function withoutSlack(pieces: readonly Buffer[]): readonly Buffer[] {
  const size = sizeOf(pieces);
  const long = new Set(pieces.map(({ buffer }) => buffer).filter(({ byteLength }) => byteLength === longPiece));
  if (long.size === 0 || size * 4 >= longPiece) return pieces;
  // Not from the pool, all of which a slice would keep alive.
  const own = Buffer.allocUnsafeSlow(size);
  let copied = 0;
  for (const piece of pieces) copied += piece.copy(own, copied);
  freeBytes(Array.from(long, (memory) => Buffer.from(memory)));
  return [own];
}
