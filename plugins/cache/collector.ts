import type { Readable } from 'node:stream';
import { ReplyStream } from '#core/pipeline/reply-stream.ts';

/**
 * A stream that passes another one on and keeps what passed, until it has become too much. Reads only as fast as it is
 * read. Breaks off as the other one does, with the same error.
 *
 * @param onEnd called with all of it when everything has passed, with nothing as soon as it is too much; never when the
 *   stream broke off before
 */
export function collect(source: Readable, maxBytes: number, onEnd: (body: Buffer | undefined) => void): Readable {
  let chunks: Buffer[] | undefined = [];
  let size = 0;
  const passing = new ReplyStream({ read: () => void source.resume(), close: () => void source.destroy() });
  source.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks?.push(chunk);
    else if (chunks !== undefined) {
      chunks = undefined;
      onEnd(undefined);
    }
    if (!passing.push(chunk)) source.pause();
  });
  source.once('end', () => {
    // A stream that is destroyed may still come to an end: whoever read it has gone, and half of it would be kept.
    if (passing.destroyed) return;
    if (chunks !== undefined) onEnd(Buffer.concat(chunks, size));
    passing.push(null);
  });
  source.once('error', (error) => passing.breakOff(error));
  source.once('close', () => {
    if (!source.readableEnded && source.errored === null)
      passing.breakOff(new Error('the answer was closed before its end'));
  });
  return passing;
}
