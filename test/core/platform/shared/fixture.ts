import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { openJobs } from '#core/platform/jobs/open.ts';
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

/** Of docs/security.md. */
export const leastAcl =
  '~gw:* resetchannels &gw:* -@all +@read +@write +@pubsub +@scripting +@connection +@transaction +@blocking +time +info +select -@dangerous +info +cluster|slots';

/** Everything that a gateway does with its Redis. */
export async function useAll(url: string): Promise<void> {
  await using shared = await RedisShared.open(url, silentLog);
  await shared.ping();
  const heard: string[] = [];
  await shared.events.subscribe('channel', (message) => heard.push(message));
  await shared.events.publish('channel', 'hello');
  await vi.waitFor(() => expect(heard).toEqual(['hello']), { timeout: 10_000 });
  await shared.cache.set('key', Buffer.from('value'), 60);
  expect(String((await shared.cache.get('key'))?.value)).toBe('value');
  expect(await shared.cache.claim('claim', 'me', 5)).toBe(true);
  expect(await shared.cache.extend('claim', 'me', 5)).toBe(true);
  await shared.cache.release('claim', 'me');
  const { lease, refusedBy } = await shared.limiter.take('key', limits({}));
  expect(refusedBy).toBeUndefined();
  expect((await shared.limiter.peek('key', limits({}))).running).toBe(1);
  shared.limiter.release('key', lease ?? '');
  await shared.groups.set('group', new Map([['name', Buffer.from('kept')]]), { seconds: 60, entries: 2, bytes: 100 });
  expect(String((await shared.groups.get('group', ['name'])).get('name'))).toBe('kept');
  const ran = Promise.withResolvers<void>();
  await using jobs = openJobs({
    databaseUrl: '',
    redisUrl: url,
    definitions: new Map([
      ['once', { name: 'once', description: 'Once.', run: async () => ran.resolve() }],
      ['often', { name: 'often', description: 'Often.', schedule: { every: 3_600 }, run: async () => undefined }],
    ]),
    host: () => undefined,
    log: silentLog,
  });
  jobs.work();
  // The first queue learns whether INFO is refused.
  await vi.waitFor(() => jobs.add('once', {}), { timeout: 10_000 });
  await ran.promise;
  expect(await jobs.state()).toMatchObject({ failed: [] });
}
