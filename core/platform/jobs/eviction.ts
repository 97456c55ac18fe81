import type { Logger } from '../logger.ts';
import { readInfo } from '../shared/redis-client.ts';

const timeoutMs = 5_000;

/**
 * Reads the eviction policy of a Redis server; undefined if it never evicts keys.
 *
 * @param info output of INFO
 */
export function readEvictionPolicy(info: string): string | undefined {
  const readField = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const policy = readField('maxmemory_policy');
  return policy === 'noeviction' || Number(readField('maxmemory') ?? 0) === 0 ? undefined : policy;
}

/** Logs a warning if the Redis of the job queue may evict jobs. */
export async function warnAboutEviction(url: string, log: Logger): Promise<void> {
  try {
    const { servers } = await readInfo(url, timeoutMs);
    const policy = servers.map(readEvictionPolicy).find((candidate) => candidate !== undefined);
    if (policy === undefined) return;
    log.warn(
      `the Redis of the job queue evicts keys (maxmemory-policy ${policy}): set it to noeviction, or set REDIS_QUEUE_URL to one that has it; jobs vanish otherwise when its memory is full`,
    );
  } catch {
    // The queue reports an unreachable Redis.
  }
}
