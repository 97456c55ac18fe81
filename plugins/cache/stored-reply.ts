import type { Readable } from 'node:stream';
import type { AnswerDigests } from '#core/gateway/facts.ts';
import { ReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';

/** Layout version. It is part of every cache key, so that two versions of the gateway can run side by side. */
export const storedVersion = 1;

interface StoredHead {
  readonly version: number;
  readonly contentType: string;
  readonly digests?: AnswerDigests | undefined;
}

interface StoredReply {
  readonly reply: Reply;
  readonly digests: AnswerDigests | undefined;
}

export function encodeStored(contentType: string, body: Buffer, digests?: AnswerDigests): Buffer {
  const head: StoredHead = { version: storedVersion, contentType, digests };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

export function decodeStored(stored: Buffer): StoredReply | undefined {
  const end = stored.indexOf(0x0a);
  try {
    const head = JSON.parse(stored.toString('utf8', 0, end)) as StoredHead;
    if (head.version !== storedVersion) return undefined;
    const reply = { status: 200, headers: { 'content-type': head.contentType }, body: stored.subarray(end + 1) };
    return { reply, digests: head.digests };
  } catch {
    return undefined;
  }
}

/**
 * Passes a stream on and collects its bytes, up to `maxBytes`. Applies backpressure, and fails if the source fails.
 *
 * @param onEnd called with the complete body at its end, or with undefined as soon as it is too large; not called if the
 *   stream fails earlier
 */
export function collectWhilePassing(
  source: Readable,
  maxBytes: number,
  onEnd: (body: Buffer | undefined) => void,
): Readable {
  let collected: CollectedBytes | undefined = new CollectedBytes();
  const passedStream = new ReplyStream({
    read: () => {
      source.resume();
    },
    close: () => {
      source.destroy();
    },
  });
  source.on('data', (chunk: Buffer) => {
    collected?.add(chunk);
    if (collected !== undefined && collected.size > maxBytes) {
      collected = undefined;
      onEnd(undefined);
    }
    if (!passedStream.push(chunk)) source.pause();
  });
  source.once('end', () => {
    // After the client has disconnected, the source may still end, and the body would be cached although it is incomplete.
    if (passedStream.destroyed) return;
    if (collected !== undefined) onEnd(collected.take());
    passedStream.push(null);
  });
  source.once('error', (error) => passedStream.endWithError(error));
  source.once('close', () => {
    if (!source.readableEnded && source.errored === null)
      passedStream.endWithError(new Error('the reply was closed before its end'));
  });
  return passedStream;
}
