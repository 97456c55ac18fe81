import type { Logger } from '../logger.ts';
import { readInfo } from '../shared/redis-client.ts';

const timeout = 5_000; // ms

/**
 * Returns the eviction policy of a Redis server; undefined if it never evicts keys.
 *
 * @param info output of INFO
 */
export function evictionPolicy(info: string): string | undefined {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const policy = field('maxmemory_policy');
  return policy === 'noeviction' || Number(field('maxmemory') ?? 0) === 0 ? undefined : policy;
}

/** Warns if jobs may vanish from their Redis. */
export async function warnOfEviction(url: string, log: Logger): Promise<void> {
  try {
    const { servers } = await readInfo(url, timeout);
    const policy = servers.map(evictionPolicy).find((found) => found !== undefined);
    if (policy === undefined) return;
    log.warn(
      `the Redis of the job queue evicts keys (maxmemory-policy ${policy}): set it to noeviction, or set REDIS_QUEUE_URL to one that has it; jobs vanish otherwise when its memory is full`,
    );
  } catch {
    // An unreachable Redis is reported by its users.
  }
}
