import type { Logger } from '../logger.ts';
import { readInfo } from '../shared/redis-client.ts';

const timeoutMs = 5_000;

/** Returns the eviction policy of a Redis server from its INFO output; undefined if it never evicts keys. */
export function readEvictionPolicy(info: string): string | undefined {
  const readField = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const policy = readField('maxmemory_policy');
  return policy === 'noeviction' || Number(readField('maxmemory') ?? 0) === 0 ? undefined : policy;
}

export async function warnAboutEviction(url: string, log: Logger): Promise<void> {
  try {
    const { servers } = await readInfo(url, timeoutMs);
    const policy = servers.map(readEvictionPolicy).find((candidate) => candidate !== undefined);
    if (policy === undefined) return;
    log.warn(
      `the job queue's Redis may evict keys (maxmemory-policy ${policy}), so jobs can be lost when its memory is full; set maxmemory-policy to noeviction, or point REDIS_QUEUE_URL at a Redis that uses noeviction`,
    );
  } catch {
    // Best effort. If Redis is unreachable, the queue itself reports it.
  }
}
