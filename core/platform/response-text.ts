import { CollectedBytes } from './memory/collected-bytes.ts';

/** Reads the text of an HTTP response, from undici or `fetch`. Throws after the first chunk over `maxBytes`. */
export async function readResponseText(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<string> {
  const collected = new CollectedBytes();
  for await (const chunk of body ?? []) {
    collected.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    if (collected.size > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`);
  }
  return collected.take().toString();
}
