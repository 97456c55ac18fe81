import type { Writable } from 'node:stream';
import { bounds } from './bounds.ts';

const lost = { writes: 0 };

/**
 * Keeps the gateway running if the log reader is gone or the log's disk is full. Lost writes are only counted, because logging them would
 * fail too.
 */
export function ignoreClosedOutput(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams)
    stream.on('error', () => {
      lost.writes++;
    });
}

/** Writes a log line. Drops and counts it if `bounds.pendingLog` bytes already wait for a stalled reader. */
export function writeLogLine(line: string, stream: Writable = process.stderr): void {
  if (stream.writableLength > bounds.pendingLog) lost.writes++;
  else stream.write(line);
}

/** Ignores EPIPE, so that commands other than `start` end quietly if the reader closes the pipe early, as in `daypass check | head`. */
export function ignoreBrokenPipe(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

export function countLostWrites(): number {
  return lost.writes;
}
