import type { QueueState } from '#core/platform/jobs/jobs.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import type { Host } from '../host/host.ts';
import { gauge, gaugeBy } from './gauge.ts';

const maxAgeMs = 1_000;
const timeoutMs = 3_000;

/** Reads the state of the queue, once for all gauges of a scrape, and at most once a second. */
export function readQueueState(host: Host): Promise<QueueState> {
  const read = () => host.jobs.state();
  const now = () => host.monotonic();
  return host.keep('health/queue-state', () => new FreshValue({ maxAgeMs, timeoutMs: timeoutMs, now, read })).get();
}

/** Gauges of the job queue. Their values are the same on every instance. */
export const jobGauges = [
  gaugeBy(
    ['state'],
    'jobs',
    'Jobs by state: waiting, running, and failed for good in the last 24 hours (at most 100).',
    async (host) => {
      const { waiting, running, failed } = await readQueueState(host);
      return Object.entries({ waiting, running, failed: failed.length });
    },
  ),
  gauge(
    'jobs_waiting_oldest_seconds',
    'Age of the oldest waiting job; 0 if no job waits.',
    async (host) => (await readQueueState(host)).oldestWaitMs / 1000,
  ),
];
