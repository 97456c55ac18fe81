import type { Writable } from 'node:stream';
import { bounds } from './bounds.ts';

const lost = { writes: 0 };

/**
 * Logging never blocks a gateway whose log reader is gone or whose log disk is full: a collector may restart. What is lost is counted; to log
 * it would lose more.
 */
export function surviveLostOutput(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams)
    stream.on('error', () => {
      lost.writes++;
    });
}

/** Writes a line of the log, unless as much waits for a reader that has stopped as is kept for it. */
export function writeLogLine(line: string, stream: Writable = process.stderr): void {
  if (stream.writableLength > bounds.waitingLog) lost.writes++;
  else stream.write(line);
}

/** Other commands end quietly when the reader closes the pipe early, as in `daypass check | head`. */
export function endQuietly(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

/** Writes that the reader of stdout or stderr did not take, since the start. */
export function lostWrites(): number {
  return lost.writes;
}
