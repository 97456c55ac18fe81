import { randomUUID } from 'node:crypto';
import type { Host } from './host.ts';

/**
 * Part of job ids. The id of a completed job stays taken, so an instance whose clock is behind, or was set back, would otherwise add ids
 * that already exist, and its jobs would be dropped.
 */
const processToken = randomUUID();

/** Adds a job without data that runs after a second: at most one per second and process, for any number of calls. */
export async function wakeJob(host: Pick<Host, 'jobs' | 'monotonic'>, name: string): Promise<void> {
  const second = Math.floor(host.monotonic() / 1_000);
  await host.jobs.add(name, {}, { id: `${name}-${processToken}-${second}`, delay: 1 });
}
