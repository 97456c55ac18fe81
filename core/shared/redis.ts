import type { Redis } from 'ioredis';
import type { Logger } from '../logger.ts';
import { RedisCache } from './redis-cache.ts';
import { connectClient, connectSubscriber, guard, type ScriptedRedis } from './redis-client.ts';
import { RedisEvents } from './redis-events.ts';
import { RedisGroups } from './redis-groups.ts';
import { RedisLimiter } from './redis-limiter.ts';
import type { Shared } from './shared.ts';

/** Shared state of a gateway with any number of processes. */
export class RedisShared implements Shared {
  readonly kind = 'redis';
  readonly limiter: RedisLimiter;
  readonly cache: RedisCache;
  readonly groups: RedisGroups;
  readonly events: RedisEvents;
  readonly #client: Redis;
  readonly #subscriber: Redis;

  private constructor(client: ScriptedRedis, subscriber: Redis) {
    this.#client = client;
    this.#subscriber = subscriber;
    this.limiter = new RedisLimiter(client);
    this.cache = new RedisCache(client);
    this.groups = new RedisGroups(client);
    this.events = new RedisEvents(client, subscriber);
  }

  /** Waits for the first connection, or its first failure. */
  static async open(url: string, log: Logger): Promise<RedisShared> {
    const client = await connectClient(url);
    const subscriber = connectSubscriber(url);
    watch(client, log);
    subscriber.on('error', () => undefined);
    const shared = new RedisShared(client, subscriber);
    await waitUntilReady(client);
    return shared;
  }

  async ping(): Promise<void> {
    await guard(this.#client.ping());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.limiter.releaseAll();
    this.#subscriber.disconnect();
    this.#client.disconnect();
  }
}

/** Reports each outage once. */
function watch(client: Redis, log: Logger): void {
  let isDown = false;
  client.on('error', (error: Error) => {
    if (!isDown) log.warn(`Redis is down: ${error.message}`);
    isDown = true;
  });
  client.on('ready', () => {
    if (isDown) log.info('Redis is up again');
    isDown = false;
  });
}

async function waitUntilReady(client: Redis): Promise<void> {
  if (client.status === 'ready') return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => resolve();
  client.once('ready', finish).once('error', finish);
  await promise;
  client.off('ready', finish).off('error', finish);
}
