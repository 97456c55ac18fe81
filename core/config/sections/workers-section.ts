import net from 'node:net';
import { availableParallelism } from 'node:os';
import { computeMemoryLimits } from '#core/platform/memory/limits.ts';
import { defineSection, type SectionValue } from '../section.ts';
import { memory } from './core-sections.ts';

// Node.js has no `BoundSocket` before 26.4, except in 24.21. On Windows, sockets cannot be bound for other processes.
const canShareSockets = 'BoundSocket' in net && process.platform !== 'win32';
const minBytesPerWorker = 512 * 1024 * 1024; // minimum memory per worker for `auto`

export const workersSection = defineSection({
  name: 'workers',
  fixed: true,
  schema: {
    description:
      'How many processes serve on the port of `listen` under a supervisor: a number, or auto for one per core with at least 512 MB of memory each. More than one needs REDIS_URL. Changes take effect at the next start.',
    default: 1,
    anyOf: [
      { type: 'integer', minimum: 1, maximum: 64 },
      { type: 'string', enum: ['auto'] },
    ],
  },
  check(workers, report, all) {
    if (computeWorkerCount(workers, all.get(memory).max_bytes) === 1) return;
    const request = `asks for ${workers === 'auto' ? 'a process for each core' : `${workers} processes`}`;
    if (!all.hasRedis)
      report(
        ['workers'],
        `${request}, which share limits, cache and queues through Redis, and REDIS_URL is not set`,
        'set REDIS_URL, or use `workers: 1`',
      );
    if (!canShareSockets)
      report(
        ['workers'],
        `${request}, which this system cannot run`,
        'use Node.js 26.4 or newer on Linux or macOS, or 1',
      );
  },
});

/** @param maxBytes `memory.max_bytes` */
export function computeWorkerCount(workers: SectionValue<typeof workersSection>, maxBytes: number | undefined): number {
  if (workers !== 'auto') return workers;
  return Math.max(
    1,
    Math.min(64, availableParallelism(), Math.floor(computeMemoryLimits(maxBytes).process / minBytesPerWorker)),
  );
}
