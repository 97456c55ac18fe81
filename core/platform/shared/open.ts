import type { Logger } from '../logger.ts';
import { MemoryShared, type MemorySharedOptions } from './memory.ts';
import { RedisShared } from './redis.ts';
import type { Shared } from './shared.ts';

interface OpenSharedOptions {
  readonly redisUrl: string | undefined;
  readonly log: Logger;
  readonly memory?: MemorySharedOptions;
}

/** Opens the shared state. The gateway can start while Redis is down. Calls fail until it is up. */
export async function openShared({ redisUrl, log, memory }: OpenSharedOptions): Promise<Shared> {
  return redisUrl === undefined ? new MemoryShared(undefined, memory) : RedisShared.open(redisUrl, log);
}
