import type { Logger } from '../logger.ts';
import { MemoryShared } from './memory.ts';
import { RedisShared } from './redis.ts';
import type { Shared } from './shared.ts';

export interface OpenSharedOptions {
  /** Redis of all instances; without it the process shares with nobody. */
  readonly redisUrl: string | undefined;
  readonly log: Logger;
}

/** Opens the shared state. A Redis that is away does not keep the gateway from starting: calls fail until it is there. */
export async function openShared({ redisUrl, log }: OpenSharedOptions): Promise<Shared> {
  return redisUrl === undefined ? new MemoryShared() : RedisShared.open(redisUrl, log);
}
