import { Redis } from 'ioredis';
import { RedisShared } from '#core/platform/shared/redis.ts';
import type { Limits } from '#core/platform/shared/shared.ts';
import { silentLog } from '../../../support/database.ts';
import { redisUrl } from '../../../support/redis.ts';
import { createTcpProxy, type TcpProxy } from '../../../support/tcp-proxy.ts';

/** Shared state of one instance, in the Redis of the tests or on the way to it that is given. */
export function openRedis(url = redisUrl ?? ''): Promise<RedisShared> {
  return RedisShared.open(url, silentLog);
}

/** A client of the tests' Redis, to look at what the gateway keeps there. */
export function connect(): AsyncDisposable & { readonly redis: Redis } {
  const client = new Redis(redisUrl ?? '');
  return { redis: client, [Symbol.asyncDispose]: async () => client.disconnect() };
}

/** Removes every key of the gateway that has this in its name. */
export async function clearKeys(part: string): Promise<void> {
  await using client = connect();
  const keys = await client.redis.keys(`gw:*${part}*`);
  if (keys.length > 0) await client.redis.del(...keys);
}

/** A way to Redis that a test can take away without taking away that of others. */
export async function startProxy(server = redisUrl ?? ''): Promise<TcpProxy & { readonly url: string }> {
  const url = new URL(server);
  const proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port === '' ? 6379 : url.port) });
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { ...proxy, url: url.href };
}

/** Limits that let pass, but for what is given. */
export const limits = (given: Partial<Limits>): Limits => ({
  limit: 10,
  period: 60,
  burst: 10,
  concurrent: 1_000_000,
  ...given,
});
