import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MemoryShared } from '#core/shared/memory.ts';
import { openShared } from '#core/shared/open.ts';
import { RedisShared } from '#core/shared/redis.ts';
import { type Limits, type Shared, SharedUnavailable, type Take } from '#core/shared/shared.ts';
import { silentLog } from '../../support/database.ts';
import { redisUrl } from '../../support/redis.ts';

/** One of the two builds, and what tests need to know about it. */
interface Build {
  readonly kind: Shared['kind'];
  readonly isMissing: boolean;
  /** Two instances of one gateway; the memory build has one process only, so both are the same. */
  open(): Promise<readonly [Shared, Shared]>;
  /** Lets time pass until `isOver` says so. */
  pass(seconds: number, isOver: () => Promise<boolean>): Promise<void>;
  /** Removes every key that has this prefix. */
  clear(prefix: string): Promise<void>;
}

let clock = 1_800_000_000_123.4;

const memory: Build = {
  kind: 'memory',
  isMissing: false,
  async open() {
    const shared = new MemoryShared(() => clock);
    return [shared, shared];
  },
  async pass(seconds) {
    clock += seconds * 1000;
  },
  async clear() {},
};

const redis: Build = {
  kind: 'redis',
  isMissing: redisUrl === undefined,
  open: () => Promise.all([openRedis(), openRedis()]),
  async pass(_seconds, isOver) {
    while (!(await isOver()));
  },
  async clear(prefix) {
    await using client = connect();
    const keys = await client.redis.keys(`gw:*${prefix}*`);
    if (keys.length > 0) await client.redis.del(...keys);
  },
};

function openRedis(url = redisUrl ?? ''): Promise<RedisShared> {
  return RedisShared.open(url, silentLog);
}

function connect() {
  const client = new Redis(redisUrl ?? '');
  return { redis: client, [Symbol.asyncDispose]: async () => client.disconnect() };
}

if (redis.isMissing) console.warn('!! the Redis half of test/core/shared DOES NOT RUN: there is no Redis !!');

const limits = (given: Partial<Limits>): Limits => ({
  limit: 10,
  period: 60,
  burst: 10,
  concurrent: 1_000_000,
  ...given,
});

describe.each([memory, redis])('shared state in $kind', (build) => {
  const prefix = randomUUID();
  let keys = 0;
  const newKey = () => `${prefix}-${++keys}`;
  let first: Shared;
  let second: Shared;

  beforeAll(async () => {
    if (!build.isMissing) [first, second] = await build.open();
  });
  afterAll(async () => {
    if (build.isMissing) return;
    await first[Symbol.asyncDispose]();
    if (second !== first) await second[Symbol.asyncDispose]();
    await build.clear(prefix);
  });

  const run = it.skipIf(build.isMissing);
  run('says what it is and answers', async () => {
    expect(first.kind).toBe(build.kind);
    await first.ping();
  });

  run.each([100, 600])('lets exactly %i of 1,000 pass that come at once, whoever is asked', async (limit) => {
    const key = newKey();
    const takes = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        (index % 2 === 0 ? first : second).limiter.take(key, limits({ limit, burst: limit, period: 86_400 })),
      ),
    );
    expect(takes.filter(({ refusedBy }) => refusedBy === undefined)).toHaveLength(limit);
    expect(takes.filter(({ refusedBy }) => refusedBy === 'rate')).toHaveLength(1_000 - limit);
  });

  run('lets the whole burst pass when the rate is no whole number', async () => {
    const key = newKey();
    const thirds = limits({ limit: 3, period: 86_402, burst: 300 });
    const takes: Take[] = [];
    for (let index = 0; index < 301; index++) takes.push(await first.limiter.take(key, thirds));
    expect(takes.filter(({ refusedBy }) => refusedBy === undefined)).toHaveLength(300);
    expect(takes.slice(0, 300).map(({ remaining }) => remaining)).toEqual(
      Array.from({ length: 300 }, (_, index) => 299 - index),
    );
    expect(takes.at(-1)?.refusedBy).toBe('rate');
  });

  run('never lets more pass than the burst and what the rate adds', async () => {
    const key = newKey();
    const quick = limits({ limit: 100, period: 1, burst: 7 });
    const from = performance.now();
    const fromClock = clock;
    let passed = 0;
    for (let round = 0; round < 60; round++) {
      const take = await first.limiter.take(key, quick);
      // What has passed when the answer is here was decided before.
      if (take.refusedBy === undefined) passed++;
      const seconds = build.kind === 'memory' ? (clock - fromClock) / 1000 : (performance.now() - from) / 1000;
      expect(passed).toBeLessThanOrEqual(7 + seconds * 100 + 1e-6);
      if (build.kind === 'memory') clock += (round * 7) % 13;
    }
    expect(passed).toBeGreaterThanOrEqual(7);
  });

  run('lets a request pass after exactly the wait that it was told', async () => {
    const key = newKey();
    const slow = limits({ limit: 7, period: 1, burst: 3 });
    for (let index = 0; index < 3; index++) await first.limiter.take(key, slow);
    const refused = await second.limiter.take(key, slow);
    expect(refused).toMatchObject({ refusedBy: 'rate', lease: undefined, remaining: 0 });
    expect(refused.retryAfter).toBeGreaterThan(0);
    expect(refused.retryAfter).toBeLessThanOrEqual(1 / 7 + 1e-6);
    const until = performance.now() + refused.retryAfter * 1000;
    await build.pass(refused.retryAfter, async () => {
      await second.ping();
      return performance.now() >= until;
    });
    expect((await second.limiter.take(key, slow)).refusedBy).toBeUndefined();
  });

  run('does not charge a request that it refuses', async () => {
    const key = newKey();
    await first.limiter.take(key, limits({ burst: 1, period: 3600 }));
    const waits: number[] = [];
    for (let index = 0; index < 5; index++)
      waits.push((await first.limiter.take(key, limits({ burst: 1, period: 3600 }))).retryAfter);
    expect(Math.max(...waits)).toBeLessThanOrEqual(360);
  });

  run('does not keep a key waiting for what it owed under other limits', async () => {
    const key = newKey();
    await first.limiter.take(key, limits({ limit: 1, period: 86_400, burst: 1 }));
    const now = limits({ limit: 60, period: 60, burst: 20 });
    expect((await first.limiter.peek(key, now)).resetAfter).toBeLessThanOrEqual(20);
    const refused = await first.limiter.take(key, now);
    expect(refused).toMatchObject({ refusedBy: 'rate', remaining: 0 });
    expect(refused.retryAfter).toBeLessThanOrEqual(1);
  });

  run('tells where a key stands without taking anything', async () => {
    const key = newKey();
    for (let index = 0; index < 3; index++)
      expect(await first.limiter.peek(key, limits({ burst: 2 }))).toEqual({
        refusedBy: undefined,
        lease: undefined,
        remaining: 2,
        retryAfter: 0,
        resetAfter: 0,
      });
    await first.limiter.take(key, limits({ burst: 2 }));
    const after = await second.limiter.peek(key, limits({ burst: 2 }));
    expect(after).toMatchObject({ remaining: 1, lease: undefined });
    expect(after.resetAfter).toBeGreaterThan(0);
    expect(after.resetAfter).toBeLessThanOrEqual(6);
  });

  run('keeps keys apart', async () => {
    const [one, other] = [newKey(), newKey()];
    await first.limiter.take(one, limits({ burst: 1 }));
    expect((await first.limiter.take(other, limits({ burst: 1 }))).refusedBy).toBeUndefined();
  });

  run('gives out as many slots as a key has, over all instances', async () => {
    const key = newKey();
    const takes = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? first : second).limiter.take(key, limits({ burst: 100, concurrent: 4 })),
      ),
    );
    const held = takes.filter(({ lease }) => lease !== undefined);
    expect(held).toHaveLength(4);
    expect(new Set(held.map(({ lease }) => lease)).size).toBe(4);
    const refused = takes.find(({ lease }) => lease === undefined);
    expect(refused).toMatchObject({ refusedBy: 'concurrency', remaining: 96 });
    expect(refused?.retryAfter).toBeGreaterThan(0);
  });

  run('takes a slot back, once', async () => {
    const key = newKey();
    const two = limits({ burst: 100, concurrent: 2 });
    const one = await first.limiter.take(key, two);
    const other = await first.limiter.take(key, two);
    first.limiter.release(key, one.lease ?? '');
    first.limiter.release(key, one.lease ?? '');
    first.limiter.release(key, 'never given out');
    await first.ping();
    const third = await first.limiter.take(key, two);
    expect(third.refusedBy).toBeUndefined();
    expect((await first.limiter.take(key, two)).refusedBy).toBe('concurrency');
    first.limiter.release(key, third.lease ?? '');
    first.limiter.release(key, other.lease ?? '');
  });

  run('keeps bytes with their age until they expire', async () => {
    const key = newKey();
    const value = Buffer.from([0, 1, 0xff, 0x0a, 0xc3]);
    expect(await first.cache.get(key)).toBeUndefined();
    await first.cache.set(key, value, 2);
    const entry = await second.cache.get(key);
    expect(entry?.value).toEqual(value);
    expect(entry?.age).toBeGreaterThanOrEqual(0);
    expect(entry?.age).toBeLessThan(1);
    expect((entry?.age ?? 0) + (entry?.expiresIn ?? 0)).toBeCloseTo(2, 6);
    await build.pass(2.001, async () => (await second.cache.get(key)) === undefined);
    expect(await first.cache.get(key)).toBeUndefined();
  });

  run('replaces what was kept', async () => {
    const key = newKey();
    await first.cache.set(key, Buffer.from('old'), 60);
    await second.cache.set(key, Buffer.from('new'), 60);
    expect((await first.cache.get(key))?.value.toString()).toBe('new');
  });

  run('keeps an empty value', async () => {
    const key = newKey();
    await first.cache.set(key, Buffer.alloc(0), 60);
    expect((await first.cache.get(key))?.value).toHaveLength(0);
  });

  run('gives a claim to exactly one', async () => {
    const key = newKey();
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? first : second).cache.claim(key, `o${index}`, 60)),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await first.cache.claim(key, `o${claims.indexOf(true)}`, 60)).toBe(false);
  });

  run('takes a claim back from its owner only', async () => {
    const key = newKey();
    await first.cache.claim(key, 'owner', 60);
    await second.cache.release(key, 'stranger');
    expect(await second.cache.claim(key, 'stranger', 60)).toBe(false);
    await second.cache.release(key, 'owner');
    expect(await second.cache.claim(key, 'stranger', 60)).toBe(true);
  });

  run('lets a claim live longer for its owner only', async () => {
    const key = newKey();
    expect(await first.cache.extend(key, 'owner', 60)).toBe(false);
    await first.cache.claim(key, 'owner', 0.05);
    expect(await second.cache.extend(key, 'stranger', 60)).toBe(false);
    expect(await first.cache.extend(key, 'owner', 0.1)).toBe(true);
    await build.pass(0.1, async () => !(await first.cache.extend(key, 'owner', 0.01)));
    expect(await first.cache.extend(key, 'owner', 60)).toBe(false);
  });

  run('frees a claim whose time is over', async () => {
    const key = newKey();
    await first.cache.claim(key, 'dead', 0.05);
    await build.pass(0.06, () => second.cache.claim(key, 'next', 60));
    if (build.kind === 'memory') expect(await second.cache.claim(key, 'next', 60)).toBe(true);
    await second.cache.release(key, 'dead');
    expect(await first.cache.claim(key, 'third', 60)).toBe(false);
  });

  run('brings a message to everybody who listens', async () => {
    const channel = newKey();
    const heard: string[] = [];
    const all = Promise.withResolvers<void>();
    const listener = (name: string) => (message: string) => {
      if (heard.push(`${name} ${message}`) === 3) all.resolve();
    };
    const ends = await Promise.all([
      first.events.subscribe(channel, listener('one')),
      first.events.subscribe(channel, listener('two')),
      second.events.subscribe(channel, listener('three')),
    ]);
    await first.events.publish(`${channel}-other`, 'not for us');
    await second.events.publish(channel, 'hello');
    await all.promise;
    expect(heard.toSorted()).toEqual(['one hello', 'three hello', 'two hello']);
    for (const end of ends) end();
  });

  run('brings no message to those who have stopped listening', async () => {
    const channel = newKey();
    const stopped = vi.fn<(message: string) => void>();
    const heard = Promise.withResolvers<string>();
    const end = await first.events.subscribe(channel, stopped);
    end();
    end();
    const last = await first.events.subscribe(channel, heard.resolve);
    await second.events.publish(channel, 'later');
    expect(await heard.promise).toBe('later');
    expect(stopped).not.toHaveBeenCalled();
    last();
  });
});

describe.skipIf(redis.isMissing)('a slot in Redis', () => {
  const key = `slot-${randomUUID()}`;
  const leases = `gw:limit:leases:{${key}}`;
  const one: Limits = { limit: 1_000, period: 1, burst: 1_000, concurrent: 1 };
  afterAll(() => redis.clear(key));

  it('is free again when its holder has died', async () => {
    await using shared = await openRedis();
    await using client = connect();
    const { lease } = await shared.limiter.take(key, one);
    expect((await shared.limiter.take(key, one)).refusedBy).toBe('concurrency');
    const expiresAt = Number(await client.redis.zscore(leases, lease ?? ''));
    const now = Number((await client.redis.time())[0]) * 1_000_000;
    expect(expiresAt - now).toBeGreaterThan(55 * 1_000_000);
    expect(expiresAt - now).toBeLessThanOrEqual(61 * 1_000_000);
    await client.redis.zadd(leases, now - 1, lease ?? '');
    expect((await shared.limiter.take(key, one)).refusedBy).toBeUndefined();
  });

  it('is given back when its end could not be told at once', async () => {
    await using proxy = await startProxy(redisUrl ?? '');
    await using shared = await openRedis(proxy.url);
    await using client = connect();
    const { lease } = await shared.limiter.take(key, one);
    expect(await client.redis.zcard(leases)).toBe(1);
    proxy.cut();
    shared.limiter.release(key, lease ?? '');
    await vi.waitFor(async () => expect(await client.redis.zcard(leases)).toBe(0), { timeout: 5_000 });
  });

  it('is known again to a Redis that has lost it', async () => {
    await using proxy = await startProxy(redisUrl ?? '');
    await using shared = await openRedis(proxy.url);
    await using client = connect();
    const { lease } = await shared.limiter.take(key, one);
    await client.redis.del(leases);
    proxy.cut();
    await vi.waitFor(async () => expect(await client.redis.zrange(leases, '0', '-1')).toEqual([lease]), {
      timeout: 5_000,
    });
    shared.limiter.release(key, lease ?? '');
    await vi.waitFor(async () => expect(await client.redis.zcard(leases)).toBe(0));
  });

  it('is given back when its instance stops', async () => {
    const shared = await openRedis();
    await shared.limiter.take(key, one);
    await shared[Symbol.asyncDispose]();
    await using client = connect();
    expect(await client.redis.zcard(leases)).toBe(0);
  });
});

/** A way to Redis that a test can cut without cutting that of others. */
async function startProxy(to: string): Promise<AsyncDisposable & { url: string; cut(): void; freeze(): void }> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
    return socket;
  };
  const server = createServer((socket) => {
    const onward = keep(connectSocket(Number(port === '' ? 6379 : port), hostname));
    keep(socket).pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const url = new URL(to);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut,
    /** Connections stay open and say nothing more; new ones work. */
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe.skipIf(redis.isMissing)('a connection to Redis', () => {
  it('is made again when it breaks, with scripts and channels', async () => {
    const channel = `gap-${randomUUID()}`;
    await using proxy = await startProxy(redisUrl ?? '');
    await using shared = await openRedis(proxy.url);
    const heard = Promise.withResolvers<string>();
    await shared.events.subscribe(channel, heard.resolve);
    await using client = connect();
    await client.redis.script('FLUSH');
    proxy.cut();
    await vi.waitFor(() => shared.limiter.take(channel, limits({})), { timeout: 5_000 });
    await vi.waitFor(
      async () => {
        await shared.events.publish(channel, 'back');
        expect(await Promise.race([heard.promise, Promise.resolve(undefined)])).toBe('back');
      },
      { timeout: 5_000 },
    );
    await redis.clear(channel);
  });
});

describe.skipIf(redis.isMissing)('a Redis that falls silent', () => {
  it('is connected to again', async () => {
    await using proxy = await startProxy(redisUrl ?? '');
    await using shared = await openRedis(proxy.url);
    const key = `silent-${randomUUID()}`;
    await shared.limiter.take(key, limits({}));
    proxy.freeze();
    await expect(shared.limiter.take(key, limits({}))).rejects.toBeInstanceOf(SharedUnavailable);
    await vi.waitFor(() => shared.limiter.take(key, limits({})), { timeout: 10_000 });
    await redis.clear(key);
  });
});

/** A port on which connections are accepted or refused, and nothing is ever answered. */
async function startSilent(): Promise<AsyncDisposable & { url: string; refuse(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  return { url: `redis://127.0.0.1:${port}`, refuse: close, [Symbol.asyncDispose]: close };
}

async function expectUnavailable(shared: Shared, call: (shared: Shared) => unknown): Promise<void> {
  const began = performance.now();
  await expect(Promise.resolve(call(shared))).rejects.toBeInstanceOf(SharedUnavailable);
  expect(performance.now() - began).toBeLessThan(500);
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

  it.each(calls)('makes %s fail in time when connections are refused', async (_name, call) => {
    await using port = await startSilent();
    await port.refuse();
    const warn = vi.fn<(message: string) => void>();
    await using shared = await openShared({ redisUrl: port.url, log: { ...silentLog, warn } });
    await expectUnavailable(shared, call);
    expect(warn).toHaveBeenCalledOnce();
  });

  it.each(calls)('makes %s fail in time when nothing is answered', async (_name, call) => {
    await using port = await startSilent();
    await using shared = await openShared({ redisUrl: port.url, log: silentLog });
    await expectUnavailable(shared, call);
    await expectUnavailable(shared, call);
  });
});
