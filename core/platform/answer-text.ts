import { CollectedBytes } from './memory/collected-bytes.ts';

/**
 * Reads the text of an HTTP response, from undici or `fetch`.
 *
 * @param maxBytes nothing is read beyond this
 * @throws Error for a longer response, and for connection errors
 */
export async function answerText(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<string> {
  const collected = new CollectedBytes();
  for await (const piece of body ?? []) {
    collected.add(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    if (collected.size > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`);
  }
  return collected.take().toString();
}
