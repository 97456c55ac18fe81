import type { Readable } from 'node:stream';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { ReplyStream } from '#core/gateway/pipeline/reply-stream.ts';

/**
 * Passes a stream on and collects its bytes, up to `maxBytes`. Applies backpressure, and fails as the source fails.
 *
 * @param onEnd called with the whole body at its end, or with undefined as soon as it is too large; not called when the
 *   stream fails before
 */
export function collect(source: Readable, maxBytes: number, onEnd: (body: Buffer | undefined) => void): Readable {
  let collected: CollectedBytes | undefined = new CollectedBytes();
  const passing = new ReplyStream({
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
    if (!passing.push(chunk)) source.pause();
  });
  source.once('end', () => {
    // A destroyed source may still end. Its client has disconnected, and only a part would be cached.
    if (passing.destroyed) return;
    if (collected !== undefined) onEnd(collected.take());
    passing.push(null);
  });
  source.once('error', (error) => passing.breakOff(error));
  source.once('close', () => {
    if (!source.readableEnded && source.errored === null)
      passing.breakOff(new Error('the reply was closed before its end'));
  });
  return passing;
}
