import { randomUUID } from 'node:crypto';
import type { Host } from './host.ts';

/**
 * Part of job ids. The id of a completed job cannot be used again, so the jobs of an instance whose clock is behind, or was set back, would
 * otherwise be dropped.
 */
const processToken = randomUUID();

/** Adds a job without data that runs after a second. Any number of calls adds at most one job per second and process. */
export async function wakeJob(host: Pick<Host, 'jobs' | 'monotonic'>, name: string): Promise<void> {
  const second = Math.floor(host.monotonic() / 1_000);
  await host.jobs.add(name, {}, { id: `${name}-${processToken}-${second}`, delay: 1 });
}
