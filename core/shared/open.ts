import type { Logger } from '../logger.ts';
import { MemoryShared } from './memory.ts';
import { RedisShared } from './redis.ts';
import type { Shared } from './shared.ts';

export interface OpenSharedOptions {
  /** Redis of all instances; without it nothing is shared between processes. */
  readonly redisUrl: string | undefined;
  readonly log: Logger;
}

/** Opens the shared state. The gateway starts while Redis is down; calls fail until it is up. */
export async function openShared({ redisUrl, log }: OpenSharedOptions): Promise<Shared> {
  return redisUrl === undefined ? new MemoryShared() : RedisShared.open(redisUrl, log);
}
