import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { createReplyStream } from './reply-stream.ts';
import type { Reply } from './reply.ts';

/** Reads the chunks of a body in order, and yields their replacements. */
export type BodyTransform = (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer | string>;

/**
 * Changes the body of a reply; for use in `leave`. A stream stays a stream, and a non-streaming body reaches the transform as one chunk.
 * Backpressure, errors and the end are propagated in both directions: a client that disconnects closes the original body, and an error of
 * the original body ends the new one, after the chunks yielded before.
 *
 * Each chunk of an event stream contains whole events, and so must each chunk that the transform yields.
 *
 * @throws GatewayError `internal_error` if a non-streaming body becomes larger than 64 MB
 * @throws errors of the transform
 */
export function mapBody(reply: Reply, transform: BodyTransform): Reply | Promise<Reply> {
  const { body } = reply;
  if (body === null) return reply;
  if (body instanceof Readable) return { ...reply, body: mapStream(body, transform) };
  return collectBody(transform(singleChunk(Buffer.from(body)))).then((mappedBody) => ({ ...reply, body: mappedBody }));
}

function mapStream(body: Readable, transform: BodyTransform): Readable {
  return createReplyStream(transform(toBuffers(body)), () => body.destroy());
}

async function* toBuffers(body: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** @throws GatewayError `internal_error` if the body is larger than 64 MB */
export async function collectBody(chunks: AsyncIterable<Buffer | string>): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const chunk of chunks) {
    collected.add(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    if (collected.size > bounds.bufferedReply) throw new GatewayError('internal_error', 'The response is too large.');
  }
  return collected.take();
}

async function* singleChunk(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}
