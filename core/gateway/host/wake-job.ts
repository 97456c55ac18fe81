import { randomUUID } from 'node:crypto';
import type { Host } from './host.ts';

/**
 * Part of job ids. The id of a completed job cannot be reused, so without it the queue would drop jobs from an instance whose clock is
 * behind or was set back.
 */
const processToken = randomUUID();

/** Adds a job without data that runs after a second. However often it is called, it adds at most one job per second and process. */
export async function wakeJob(host: Pick<Host, 'jobs' | 'monotonic'>, name: string): Promise<void> {
  const second = Math.floor(host.monotonic() / 1_000);
  await host.jobs.add(name, {}, { id: `${name}-${processToken}-${second}`, delay: 1 });
}
