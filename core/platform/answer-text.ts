import { CollectedBytes } from './memory/collected-bytes.ts';

/**
 * The text of an answer over HTTP, of undici as of `fetch`.
 *
 * @param most bytes; nothing is read beyond them
 * @throws Error for a longer answer, and of the connection
 */
export async function answerText(body: AsyncIterable<Uint8Array> | null, most: number): Promise<string> {
  const collected = new CollectedBytes();
  for await (const piece of body ?? []) {
    collected.add(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    if (collected.size > most) throw new Error(`the answer has more than ${most} bytes`);
  }
  return collected.take().toString();
}
