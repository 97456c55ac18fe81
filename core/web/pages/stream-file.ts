import { addAbortSignal, Readable } from 'node:stream';
import type { Logger } from '#core/platform/logger.ts';

const maxDurationMs = 15 * 60_000;

/**
 * Creates the body of a file that is generated while the client reads it. A failure or timeout is logged and aborts the connection, so that
 * the client detects a truncated file.
 *
 * @param description for the log, such as "an export of requests"
 */
export function streamFile(
  log: Pick<Logger, 'error'>,
  description: string,
  chunks: AsyncIterable<string | Buffer>,
): Readable {
  const stream = Readable.from(chunks, { objectMode: false });
  // If the client has gone away, hapi destroys the stream without an error.
  stream.on('error', (error) => log.error(`${description} failed`, error));
  return addAbortSignal(AbortSignal.timeout(maxDurationMs), stream);
}
