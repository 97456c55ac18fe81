import { addAbortSignal, Readable } from 'node:stream';
import type { Logger } from '#core/platform/logger.ts';

const maxDurationMs = 15 * 60_000;

/**
 * Creates the body of a file that is generated while the client reads it. A failure or a timeout is logged and closes the connection
 * without an end, so that the client does not take the part for the whole.
 *
 * @param what description for the log, as in "an export of requests"
 */
export function streamFile(log: Pick<Logger, 'error'>, what: string, pieces: AsyncIterable<string | Buffer>): Readable {
  const stream = Readable.from(pieces, { objectMode: false });
  // hapi destroys the stream without an error if the client has left.
  stream.on('error', (error) => log.error(`${what} failed`, error));
  return addAbortSignal(AbortSignal.timeout(maxDurationMs), stream);
}
