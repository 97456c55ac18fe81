import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import type { Shared, Take } from '#core/platform/shared/shared.ts';
import { hasRedisServer, type RedisCluster, startRedisCluster } from '../../../support/redis-cluster.ts';
import { redisUrl } from '../../../support/redis.ts';
import { clearKeys, limits, openRedis } from './fixture.ts';

/** One of the builds, and what tests need to know about it. */
interface Build {
  readonly name: string;
  readonly kind: Shared['kind'];
  readonly isMissing: boolean;
  /** Two instances of one gateway; the memory build has one process only, so both are the same. */
  open(): Promise<readonly [Shared, Shared]>;
  /** Lets time pass until `isOver` says so. */
  pass(seconds: number, isOver: () => Promise<boolean>): Promise<void>;
  /** Removes every key that has this prefix. */
  clear(prefix: string): Promise<void>;
}

/** Entries of a group with these names. */
const entriesOf = (...names: string[]) => new Map(names.map((name) => [name, Buffer.from(`value ${name}`)]));

/** Those of the names that a group has. */
async function found({ groups }: Shared, group: string, ...names: string[]): Promise<string[]> {
  return [...(await groups.get(group, names)).keys()];
}

let clock = 1_800_000_000_123.4;

const memory: Build = {
  name: 'memory',
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
  name: 'Redis',
  kind: 'redis',
  isMissing: redisUrl === undefined,
  open: () => Promise.all([openRedis(), openRedis()]),
  async pass(_seconds, isOver) {
    while (!(await isOver()));
  },
  clear: clearKeys,
};

/** Its servers, as long as the tests run. */
let servers: RedisCluster | undefined;

const cluster: Build = {
  name: 'a Redis Cluster',
  kind: 'redis',
  isMissing: !hasRedisServer,
  async open() {
    servers = await startRedisCluster();
    const { url } = servers;
    return Promise.all([openRedis(url), openRedis(url)]);
  },
  pass: redis.pass,
  async clear() {
    await servers?.[Symbol.asyncDispose]();
  },
};

if (redis.isMissing) console.warn('!! the Redis half of test/core/platform/shared DOES NOT RUN: there is no Redis !!');

describe.each([memory, redis, cluster])('shared state in $name', (build) => {
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

  /** Lets so many seconds pass without another look at what is tested. */
  const letPass = async (seconds: number) => {
    const until = performance.now() + seconds * 1000;
    await build.pass(seconds, async () => {
      await second.ping();
      return performance.now() >= until;
    });
  };

  const run = it.skipIf(build.isMissing);
  run('says what it is and answers', async () => {
    expect(first.kind).toBe(build.kind);
    await first.ping();
  });

  run.each([100, 600])('lets exactly %i of 1,000 pass that come at once, at either instance', async (limit) => {
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
    const slow = limits({ limit: 1, period: 1, burst: 3 });
    for (let index = 0; index < 3; index++) await first.limiter.take(key, slow);
    const refused = await second.limiter.take(key, slow);
    expect(refused).toMatchObject({ refusedBy: 'rate', lease: undefined, remaining: 0 });
    expect(refused.retryAfter).toBeGreaterThan(0);
    expect(refused.retryAfter).toBeLessThanOrEqual(1 + 1e-6);
    await letPass(refused.retryAfter);
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

  run.each(['take', 'peek'] as const)(
    'lets a key that owes too much go on at the rate of now after a %s',
    async (call) => {
      const key = newKey();
      await first.limiter.take(key, limits({ limit: 1, period: 86_400, burst: 1 }));
      const now = limits({ limit: 20, period: 1, burst: 2 });
      await first.limiter[call](key, now);
      await letPass(0.11);
      expect(await second.limiter.peek(key, now)).toMatchObject({ remaining: 2, resetAfter: 0 });
      expect((await second.limiter.take(key, now)).refusedBy).toBeUndefined();
    },
  );

  run('tells where a key stands without taking anything', async () => {
    const key = newKey();
    for (let index = 0; index < 3; index++)
      expect(await first.limiter.peek(key, limits({ burst: 2 }))).toEqual({
        refusedBy: undefined,
        lease: undefined,
        remaining: 2,
        retryAfter: 0,
        resetAfter: 0,
        running: 0,
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

  run('counts the slots that a key holds over all instances', async () => {
    const key = newKey();
    const most = limits({ burst: 100, concurrent: 4 });
    await first.limiter.take(key, most);
    const { lease = '' } = await second.limiter.take(key, most);
    expect(await first.limiter.peek(key, most)).toMatchObject({ running: 2 });
    second.limiter.release(key, lease);
    await second.ping();
    expect(await first.limiter.peek(key, most)).toMatchObject({ running: 1 });
  });

  run('gives out no slot without a limit of concurrent requests', async () => {
    const key = newKey();
    const unlimited = limits({ burst: 3, concurrent: undefined });
    for (const remaining of [2, 1, 0])
      expect(await first.limiter.take(key, unlimited)).toMatchObject({
        refusedBy: undefined,
        lease: undefined,
        remaining,
      });
    expect(await first.limiter.take(key, unlimited)).toMatchObject({ refusedBy: 'rate', lease: undefined });
    const held = await second.limiter.take(key, limits({ burst: 4, concurrent: 1 }));
    expect(held.refusedBy).toBeUndefined();
    second.limiter.release(key, held.lease ?? '');
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
    const since = performance.now();
    await first.cache.set(key, value, 2);
    const entry = await second.cache.get(key);
    expect(entry?.value).toEqual(value);
    expect(entry?.age).toBeGreaterThanOrEqual(0);
    // Clocks are read in whole milliseconds.
    expect(entry?.age).toBeLessThanOrEqual((performance.now() - since + 2) / 1_000);
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

  run('sets how long a claim lives on, for its owner only', async () => {
    const key = newKey();
    expect(await first.cache.extend(key, 'owner', 60)).toBe(false);
    await first.cache.claim(key, 'owner', 60);
    expect(await second.cache.extend(key, 'stranger', 0.05)).toBe(false);
    expect(await first.cache.extend(key, 'owner', 0.05)).toBe(true);
    await build.pass(0.06, () => second.cache.claim(key, 'next', 60));
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

  describe('in groups', () => {
    const roomy = { seconds: 60, entries: 10, bytes: 1_000 };
    run('finds the values of a group at the other instance, and no others', async () => {
      const group = newKey();
      await first.groups.set(group, new Map([['a', Buffer.from([0, 255, 10])]]), roomy);
      const values = await second.groups.get(group, ['b', 'a']);
      expect([...values]).toEqual([['a', Buffer.from([0, 255, 10])]]);
      expect(await found(second, newKey(), 'a')).toEqual([]);
    });

    run('drops the oldest over the number of entries', async () => {
      const group = newKey();
      for (const name of ['a', 'b', 'c']) {
        await first.groups.set(group, entriesOf(name), { ...roomy, entries: 2 });
        await letPass(0.002);
      }
      expect(await found(second, group, 'a', 'b', 'c')).toEqual(['b', 'c']);
    });

    run('drops the oldest over the number of bytes, also of a set that replaces', async () => {
      const group = newKey();
      const tight = { ...roomy, bytes: 14 };
      for (const name of ['a', 'b', 'a', 'c']) {
        await first.groups.set(group, entriesOf(name), tight);
        await letPass(0.002);
      }
      expect(await found(second, group, 'a', 'b', 'c')).toEqual(['a', 'c']);
    });

    run('keeps no value that is larger than its group may be', async () => {
      const group = newKey();
      await first.groups.set(group, new Map([['a', Buffer.alloc(1_001)]]), roomy);
      await first.groups.set(group, entriesOf('b'), roomy);
      expect(await found(second, group, 'a', 'b')).toEqual(['b']);
    });

    run('forgets values whose time is over, while others of the group live on', async () => {
      const group = newKey();
      await first.groups.set(group, entriesOf('a'), { ...roomy, seconds: 0.05 });
      await build.pass(0.06, async () => (await found(second, group, 'a')).length === 0);
      await first.groups.set(group, entriesOf('b'), roomy);
      expect(await found(second, group, 'a', 'b')).toEqual(['b']);
    });
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
