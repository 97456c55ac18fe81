import type { Writable } from 'node:stream';
import { bounds } from './bounds.ts';

const lost = { writes: 0 };

/**
 * Keeps the gateway running if the log reader is gone or the log disk is full; a collector may restart. Lost writes are counted; logging
 * them would lose more.
 */
export function ignoreClosedOutput(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams)
    stream.on('error', () => {
      lost.writes++;
    });
}

/** Writes a log line, unless `bounds.waitingLog` bytes already wait for a stalled reader. */
export function writeLogLine(line: string, stream: Writable = process.stderr): void {
  if (stream.writableLength > bounds.waitingLog) lost.writes++;
  else stream.write(line);
}

/**
 * Ends commands other than `start` quietly if the reader closes the pipe early, as in `daypass check
 * head`.
 */
export function exitOnClosedOutput(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

/** Returns the number of lost writes to stdout and stderr since the start. */
export function lostWrites(): number {
  return lost.writes;
}
