import type { Reply } from '#core/gateway/pipeline/reply.ts';

/** Version of the layout; part of every cache key, so that two versions of the gateway can run side by side. */
export const storedVersion = 1;

/** A stored reply is this object on one line of JSON, followed by the body. */
interface StoredHead {
  readonly version: number;
  readonly contentType: string;
}

export function encodeStored(contentType: string, body: Buffer): Buffer {
  const head: StoredHead = { version: storedVersion, contentType };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

/** The stored reply; undefined when another version of the gateway has written it, or it is malformed. */
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
