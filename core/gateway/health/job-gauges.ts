import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import type { QueueState } from '#core/platform/jobs/jobs.ts';
import type { Host } from '../host/host.ts';
import { gauge, gaugeBy } from './gauge.ts';

const maxAgeMs = 1_000;
const deadline = 3_000; // ms

/** Returns the state of the queue, read once for all gauges of a scrape, and at most once a second. */
export function queueState(host: Host): Promise<QueueState> {
  const read = () => host.jobs.state();
  const now = () => host.monotonic();
  return host.keep('health/queue-state', () => new FreshValue({ maxAge: maxAgeMs, deadline, now, read })).get();
}

/** Gauges of the job queue, with equal values on every instance. */
export const jobGauges = [
  gaugeBy(
    ['state'],
    'jobs',
    'Jobs by state: waiting, running, and failed for good in the last 24 hours (at most 100).',
    async (host) => {
      const { waiting, running, failed } = await queueState(host);
      return Object.entries({ waiting, running, failed: failed.length });
    },
  ),
  gauge(
    'jobs_waiting_oldest_seconds',
    'For how long the oldest waiting job has waited; 0 without any.',
    async (host) => (await queueState(host)).longestWait / 1000,
  ),
];
