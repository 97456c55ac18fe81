import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { openShared } from '#core/platform/shared/open.ts';
import { connectClient } from '#core/platform/shared/redis-client.ts';
import { type Limits, type Shared, SharedUnavailable } from '#core/platform/shared/shared.ts';
import { silentLog } from '../../../support/database.ts';
import { createSilentPort, holdClosedPort } from '../../../support/dead-ends.ts';
import { startRedis } from '../../../support/global-redis.ts';
import { redisUrl } from '../../../support/redis.ts';
import { createTcpProxy, type TcpProxy } from '../../../support/tcp-proxy.ts';
import { clearKeys, connect, limits, openRedis, startProxy } from './fixture.ts';

/** Cuts what is connected; who connects again gets through. */
function reset(proxy: TcpProxy): void {
  proxy.turn('cut');
  proxy.turn('open');
}

describe.skipIf(redisUrl === undefined)('commands to Redis', () => {
  it('of one turn of the event loop are sent in one system call', async () => {
    const client = await connectClient(redisUrl ?? '');
    await once(client, 'ready');
    const one = vi.spyOn(client.stream, '_write');
    const several = vi.spyOn(client.stream, '_writev');
    const key = `turn-${randomUUID()}`;
    const replies = [client.set(key, '1'), client.incr(key), client.del(key)];
    expect(await Promise.all(replies)).toEqual(['OK', 2, 1]);
    expect(one).not.toHaveBeenCalled();
    expect(several).toHaveBeenCalledOnce();
    client.disconnect();
  });
});

describe.skipIf(redisUrl === undefined)('a slot in Redis', () => {
  const key = `slot-${randomUUID()}`;
  const leases = `gw:limit:leases:{${key}}`;
  const one: Limits = { limit: 1_000, period: 1, burst: 1_000, concurrent: 1 };
  afterAll(() => clearKeys(key));
  afterEach(() => void vi.useRealTimers());

  it('is free again when its holder has died', async () => {
    await using shared = await openRedis();
    await using client = connect();
    const { lease } = await shared.limiter.take(key, one);
    expect((await shared.limiter.take(key, one)).refusedBy).toBe('concurrency');
    const expiresAt = Number(await client.redis.zscore(leases, lease ?? ''));
    const now = Number((await client.redis.time())[0]) * 1_000_000;
    expect(expiresAt - now).toBeGreaterThan(20 * 1_000_000);
    expect(expiresAt - now).toBeLessThanOrEqual(26 * 1_000_000);
    // The set must not be gone before its slots are.
    expect(await client.redis.pttl(leases)).toBeGreaterThan(20_000);
    await client.redis.zadd(leases, now - 1, lease ?? '');
    expect((await shared.limiter.take(key, one)).refusedBy).toBeUndefined();
  });

  it('is released later when Redis could not be reached at its end', async () => {
    await using proxy = await startProxy();
    await using shared = await openRedis(proxy.url);
    await using client = connect();
    const { lease } = await shared.limiter.take(key, one);
    expect(await client.redis.zcard(leases)).toBe(1);
    reset(proxy);
    shared.limiter.release(key, lease ?? '');
    await vi.waitFor(async () => expect(await client.redis.zcard(leases)).toBe(0), { timeout: 15_000 });
  });

  it('is known again to a Redis that has lost it', async () => {
    await using proxy = await startProxy();
    await using shared = await openRedis(proxy.url);
    await using client = connect();
    const { lease } = await shared.limiter.take(key, one);
    await client.redis.del(leases);
    reset(proxy);
    await vi.waitFor(async () => expect(await client.redis.zrange(leases, '0', '-1')).toEqual([lease]), {
      timeout: 15_000,
    });
    shared.limiter.release(key, lease ?? '');
    await vi.waitFor(async () => expect(await client.redis.zcard(leases)).toBe(0), { timeout: 15_000 });
  });

  it('is renewed while it is held, also one that Redis has lost, and with an expiry', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await using shared = await openRedis();
    await using client = connect();
    const { lease = '' } = await shared.limiter.take(key, one);
    await client.redis.del(leases);
    vi.advanceTimersByTime(10_000);
    await shared.ping();
    // Most requests are over by now, and need no renewal.
    expect(await client.redis.exists(leases)).toBe(0);
    vi.advanceTimersByTime(5_000);
    vi.useRealTimers();
    await shared.ping();
    const expiresAt = Number(await client.redis.zscore(leases, lease));
    const now = Number((await client.redis.time())[0]) * 1_000_000;
    expect(expiresAt - now).toBeGreaterThan(20 * 1_000_000);
    expect(await client.redis.pttl(leases)).toBeGreaterThan(20_000);
    expect(await client.redis.pttl(leases)).toBeLessThanOrEqual(26_000);
    shared.limiter.release(key, lease);
  });

  it('is released when Redis grants it after its caller has continued without it', async () => {
    await using proxy = await startProxy();
    await using shared = await openRedis(proxy.url);
    await using client = connect();
    const fallback = { refusedBy: undefined, lease: 'local', remaining: 1, retryAfter: 0, resetAfter: 0 };
    await shared.limiter.take(key, one);
    proxy.delay(100);
    const two = { ...one, concurrent: 2 };
    expect(await shared.limiter.take(key, two, () => fallback)).toBe(fallback);
    await vi.waitFor(async () => expect(await client.redis.zcard(leases)).toBe(1), { timeout: 15_000 });
    proxy.delay(0);
  });

  it('is given back when its instance stops', async () => {
    const shared = await openRedis();
    await shared.limiter.take(key, one);
    await shared[Symbol.asyncDispose]();
    await using client = connect();
    expect(await client.redis.zcard(leases)).toBe(0);
  });
});

describe.skipIf(redisUrl === undefined)('a connection to Redis', () => {
  it('that was interrupted reports a gap once its channels are subscribed again', async () => {
    const channel = `gap-${randomUUID()}`;
    await using proxy = await startProxy();
    await using shared = await openRedis(proxy.url);
    await using other = await openRedis();
    const [gap, heard] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    await shared.events.subscribe(channel, heard.resolve, gap.resolve);
    reset(proxy);
    await gap.promise;
    await other.events.publish(channel, 'after the gap');
    expect(await heard.promise).toBe('after the gap');
  });

  it('is made again when it breaks, with scripts and channels', async () => {
    const channel = `gap-${randomUUID()}`;
    await using proxy = await startProxy();
    await using shared = await openRedis(proxy.url);
    const heard = Promise.withResolvers<string>();
    await shared.events.subscribe(channel, heard.resolve);
    await using client = connect();
    await client.redis.script('FLUSH');
    reset(proxy);
    await vi.waitFor(() => shared.limiter.take(channel, limits({})), { timeout: 15_000 });
    await vi.waitFor(
      async () => {
        await shared.events.publish(channel, 'back');
        expect(await Promise.race([heard.promise, Promise.resolve(undefined)])).toBe('back');
      },
      { timeout: 15_000 },
    );
    await clearKeys(channel);
  });
});

describe.skipIf(redisUrl === undefined)('an event loop that was late', () => {
  it('reads the pending replies before it counts any as late', async () => {
    await using shared = await openRedis();
    const key = `late-${randomUUID()}`;
    await shared.limiter.take(key, limits({}));
    const fallback = vi.fn<() => undefined>();
    for (const blocked of [60, 300, 2_500]) {
      const taken = shared.limiter.take(key, limits({ burst: 10 }), fallback);
      const until = performance.now() + blocked;
      while (performance.now() < until);
      expect((await taken).refusedBy).toBeUndefined();
    }
    expect(fallback).not.toHaveBeenCalled();
    await clearKeys(key);
  });

  it('finds the confirmation of a subscription that waits', async () => {
    await using shared = await openRedis();
    const subscribed = shared.events.subscribe(`late-${randomUUID()}`, () => undefined);
    const until = performance.now() + 600;
    while (performance.now() < until);
    (await subscribed)();
  });
});

describe('a Redis that has become a replica', () => {
  it('is left for the primary that took its place', async ({ skip }) => {
    await using replica = await startRedis();
    await using primary = await startRedis();
    skip(replica === undefined || primary === undefined, 'there is no redis-server');
    let target = Number(new URL(replica?.url ?? '').port);
    await using proxy = await createTcpProxy({
      host: '127.0.0.1',
      get port() {
        return target;
      },
    });
    await using shared = await openRedis(`redis://127.0.0.1:${proxy.port}`);
    await shared.limiter.take('k', limits({}));
    target = Number(new URL(primary?.url ?? '').port);
    const admin = new Redis(replica?.url ?? '').on('error', () => undefined);
    await admin.replicaof('127.0.0.1', 1);
    admin.disconnect();
    await vi.waitFor(() => shared.limiter.take('k', limits({})), { timeout: 15_000 });
  });
});

describe('a Redis that is stopped', () => {
  it('costs requests one short wait, and counts again as soon as it answers a ping', async ({ skip }) => {
    await using server = await startRedis();
    skip(server === undefined, 'there is no redis-server');
    await using shared = await openRedis(server?.url);
    const ten = limits({ limit: 10, burst: 10, period: 86_400 });
    const take = () => shared.limiter.take('stopped', ten);
    await take();
    server?.signal('SIGSTOP');
    await expect(take()).rejects.toBeInstanceOf(SharedUnavailable);
    const sent = vi.spyOn(shared.limiter, 'take');
    // No command is sent any more, so each of these fails before anything could time out.
    const isSettled = vi.fn<() => void>();
    take().catch(isSettled);
    await Promise.resolve().then(() => Promise.resolve());
    await new Promise(setImmediate);
    expect([sent.mock.calls.length, isSettled.mock.calls.length]).toEqual([1, 1]);
    server?.signal('SIGCONT');
    await vi.waitFor(() => shared.ping(), { timeout: 15_000 });
    const takes = await Promise.all(Array.from({ length: 40 }, take));
    // The two that it found in its socket count as well.
    expect(takes.filter(({ refusedBy }) => refusedBy === undefined)).toHaveLength(8);
  });
});

describe.skipIf(redisUrl === undefined)('a Redis that is slow', () => {
  it('is not waited for, until it is fast again', async () => {
    await using proxy = await startProxy();
    await using shared = await openRedis(proxy.url);
    const key = `slow-${randomUUID()}`;
    await shared.limiter.take(key, limits({}));
    proxy.delay(200);
    await vi.waitFor(() => expect(shared.limiter.take(key, limits({ burst: 1_000 }))).rejects.toThrow('in time'), {
      timeout: 15_000,
    });
    await expect(shared.ping()).rejects.toBeInstanceOf(SharedUnavailable);
    proxy.delay(0);
    await vi.waitFor(() => shared.ping(), { timeout: 15_000 });
    await shared.limiter.take(key, limits({}));
    await clearKeys(key);
  });
});

describe('instances', () => {
  it('are counted by their heartbeats, and no longer when they have stopped', async ({ skip }) => {
    await using server = await startRedis();
    skip(server === undefined, 'there is no redis-server');
    await using first = await openRedis(server?.url);
    expect(first.limiter.instances).toBe(1);
    const second = await openRedis(server?.url);
    await first.ping();
    expect([first.limiter.instances, second.limiter.instances]).toEqual([2, 2]);
    await second[Symbol.asyncDispose]();
    await first.ping();
    expect(first.limiter.instances).toBe(1);
  });

  it('count as before when Redis has lost them, until they are back: none takes the limit for itself', async ({
    skip,
  }) => {
    await using server = await startRedis();
    skip(server === undefined, 'there is no redis-server');
    await using first = await openRedis(server?.url);
    await using second = await openRedis(server?.url);
    await first.ping();
    const client = new Redis(server?.url ?? '');
    await client.flushall();
    client.disconnect();
    for (let beat = 0; beat < 3; beat++) await first.ping();
    expect([first.limiter.instances, second.limiter.instances]).toEqual([2, 2]);
  });
});

describe.skipIf(redisUrl === undefined)('a Redis that falls silent', () => {
  it('is connected to again', async () => {
    await using proxy = await startProxy();
    await using shared = await openRedis(proxy.url);
    const key = `silent-${randomUUID()}`;
    await shared.limiter.take(key, limits({}));
    proxy.freeze();
    await expect(shared.limiter.take(key, limits({}))).rejects.toBeInstanceOf(SharedUnavailable);
    await vi.waitFor(() => shared.limiter.take(key, limits({})), { timeout: 15_000 });
    await clearKeys(key);
  });
});

const urlOf = ({ port }: { readonly port: number }) => `redis://127.0.0.1:${port}`;

/** A call that had no deadline would outlast the test. */
async function expectUnavailable(shared: Shared, call: (shared: Shared) => unknown): Promise<void> {
  await expect(Promise.resolve(call(shared))).rejects.toBeInstanceOf(SharedUnavailable);
}

describe('a Redis that is away', () => {
  const calls: readonly [name: string, call: (shared: Shared) => unknown][] = [
    ['take', ({ limiter }) => limiter.take('k', limits({}))],
    ['peek', ({ limiter }) => limiter.peek('k', limits({}))],
    ['get', ({ cache }) => cache.get('k')],
    ['set', ({ cache }) => cache.set('k', Buffer.from('v'), 10)],
    ['claim', ({ cache }) => cache.claim('k', 'o', 10)],
    ['release', ({ cache }) => cache.release('k', 'o')],
    ['publish', ({ events }) => events.publish('c', 'm')],
    ['subscribe', ({ events }) => events.subscribe('c', () => undefined)],
    ['ping', (shared) => shared.ping()],
  ];

  it.each(calls)('makes %s fail when connections are refused', async (_name, call) => {
    await using port = await holdClosedPort();
    const warn = vi.fn<(message: string) => void>();
    await using shared = await openShared({ redisUrl: urlOf(port), log: { ...silentLog, warn } });
    await expectUnavailable(shared, call);
    expect(warn).toHaveBeenCalledOnce();
  });

  it('is logged with the reason, and nowhere else', async () => {
    await using port = await holdClosedPort();
    const print = vi.spyOn(console, 'error').mockReturnValue();
    const warn = vi.fn<(message: string) => void>();
    await using _shared = await openShared({ redisUrl: urlOf(port), log: { ...silentLog, warn } });
    expect(warn.mock.calls).toEqual([['Redis is down: connection refused']]);
    expect(print).not.toHaveBeenCalled();
    print.mockRestore();
  });

  it('and accepts a connection without answering is connected to again', async () => {
    const again = Promise.withResolvers<void>();
    const connected = vi.fn(() => connected.mock.calls.length === 2 && again.resolve());
    await using port = await createSilentPort(connected);
    const client = await connectClient(urlOf(port));
    client.on('error', () => undefined);
    await again.promise;
    client.disconnect();
  });

  // Each waits for two deadlines.
  it.concurrent.each(calls)('makes %s fail when nothing is answered', async (_name, call) => {
    await using port = await createSilentPort();
    await using shared = await openShared({ redisUrl: urlOf(port), log: silentLog });
    await expectUnavailable(shared, call);
    await expectUnavailable(shared, call);
  });
});
