import type { Writable } from 'node:stream';
import type { Gauge } from './extension/gauge.ts';

const lost = { writes: 0 };

/**
 * A gateway goes on when nobody reads its log or the log's disk is full: a collector may restart. What is lost is counted; to log
 * it would lose more.
 */
export function surviveLostOutput(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams)
    stream.on('error', () => {
      lost.writes++;
    });
}

/** Other commands end quietly when the reader closes the pipe early, as in `gateway check | head`. */
export function endQuietly(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

/** Writes that the reader of stdout or stderr did not take. */
export const lostOutputGauge: Gauge = {
  name: 'log_writes_lost_total',
  description: 'Lines of the process log that could not be written, because nobody reads them or the disk is full.',
  isCounter: true,
  read: () => [{ value: lost.writes }],
};
