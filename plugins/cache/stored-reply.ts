import type { Reply } from '#core/pipeline/reply.ts';

/** Of the layout; a part of every key, so that gateways of two versions side by side each find their own entries. */
export const storedVersion = 1;

/** An answer as it lies in the store: a line of JSON about it, then its bytes. */
interface StoredHead {
  readonly version: number;
  readonly contentType: string;
}

export function encodeStored(contentType: string, body: Buffer): Buffer {
  const head: StoredHead = { version: storedVersion, contentType };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

/** The stored answer; undefined when it was written by another version of the gateway, or is damaged. */
export function decodeStored(stored: Buffer): Reply | undefined {
  const end = stored.indexOf(0x0a);
  try {
    const head = JSON.parse(stored.toString('utf8', 0, end)) as StoredHead;
    if (head.version !== storedVersion) return undefined;
    return { status: 200, headers: { 'content-type': head.contentType }, body: stored.subarray(end + 1) };
  } catch {
    return undefined;
  }
}
