import { expect, it } from 'vitest';
import { MemoryLimiter, MemoryShared } from '#core/platform/shared/memory.ts';
import { limits } from './fixture.ts';

it('a limiter in memory forgets keys that owe nothing, and no others', () => {
  let now = 0;
  const limiter = new MemoryLimiter(() => now);
  const slow = limits({ limit: 1, period: 86_400, burst: 1 });
  limiter.take('owes', slow);
  const held = limiter.take('holds', limits({ limit: 10, period: 1, burst: 10, concurrent: 1 }));
  for (let key = 0; key < 30_000; key++) {
    now += 200;
    limiter.take(`key-${key}`, limits({ limit: 10, period: 1, burst: 1, concurrent: undefined }));
  }
  expect(limiter.keyCount).toBeLessThanOrEqual(10_000);
  expect(limiter.take('owes', slow).refusedBy).toBe('rate');
  expect(held.lease).toBeDefined();
  expect(limiter.take('holds', limits({ limit: 10, period: 1, burst: 10, concurrent: 1 })).refusedBy).toBe(
    'concurrency',
  );
});

it('a claim in memory ends with its time: another may have it, and its owner can no longer extend it', async () => {
  let now = 0;
  const { cache } = new MemoryShared(() => now);
  await cache.claim('answer', 'first', 1);
  now = 999;
  expect(await cache.claim('answer', 'second', 1)).toBe(false);
  now = 1_000;
  expect(await cache.extend('answer', 'first', 1)).toBe(false);
  expect(await cache.claim('answer', 'second', 1)).toBe(true);
});

it('a value of a group in memory is gone at the moment its time ends', async () => {
  let now = 0;
  const { groups } = new MemoryShared(() => now);
  await groups.set('group', new Map([['name', Buffer.from('value')]]), { seconds: 1, entries: 1, bytes: 100 });
  now = 999;
  expect(await groups.get('group', ['name'])).toEqual(new Map([['name', Buffer.from('value')]]));
  now = 1_000;
  expect(await groups.get('group', ['name'])).toEqual(new Map());
});
