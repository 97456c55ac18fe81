import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { replyStreamOf } from './reply-stream.ts';
import type { Reply } from './reply.ts';

/** Reads the chunks of a body in order, and yields their replacements. */
export type BodyTransform = (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer | string>;

/**
 * Changes the body of a reply; for `leave`. A whole body stays whole and reaches the transform as one chunk, a stream
 * stays a stream. Backpressure, errors and the end pass through in both directions: a client that leaves closes the
 * original body, and an original body that breaks off ends the new one with the same error, after what it has yielded.
 *
 * An event stream delivers whole events in each chunk, and so must the transform.
 *
 * @throws GatewayError `internal_error` when a whole body becomes larger than 64 MB; errors of the transform
 */
export function mapBody(reply: Reply, transform: BodyTransform): Reply | Promise<Reply> {
  const { body } = reply;
  if (body === null) return reply;
  if (body instanceof Readable) return { ...reply, body: mapStream(body, transform) };
  return mapWhole(Buffer.from(body), transform).then((mapped) => ({ ...reply, body: mapped }));
}

function mapStream(body: Readable, transform: BodyTransform): Readable {
  return replyStreamOf(transform(toBuffers(body)), () => body.destroy());
}

/** Streams of text yield strings; transforms see bytes only. */
async function* toBuffers(body: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

async function mapWhole(body: Buffer, transform: BodyTransform): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const chunk of transform(only(body))) {
    collected.add(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    if (collected.size > bounds.wholeReply) throw new GatewayError('internal_error', 'The response is too large.');
  }
  return collected.take();
}

async function* only(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}
