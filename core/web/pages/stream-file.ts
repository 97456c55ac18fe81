import { addAbortSignal, Readable } from 'node:stream';
import type { Logger } from '#core/platform/logger.ts';

const maxDurationMs = 15 * 60_000;

/**
 * The body of a file that is made while the client reads it. A failure, or the end of the time, is logged and closes the connection
 * without an end: the client must not take the part for the whole.
 *
 * @param what for the log, as in "an export of requests"
 */
export function streamFile(log: Pick<Logger, 'error'>, what: string, pieces: AsyncIterable<string | Buffer>): Readable {
  const stream = Readable.from(pieces, { objectMode: false });
  // hapi destroys the stream of a client that has left without an error.
  stream.on('error', (error) => log.error(`${what} failed`, error));
  return addAbortSignal(AbortSignal.timeout(maxDurationMs), stream);
}
