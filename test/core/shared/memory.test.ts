import { expect, it } from 'vitest';
import { MemoryLimiter } from '#core/shared/memory.ts';
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
  expect(limiter.size).toBeLessThanOrEqual(10_000);
  expect(limiter.take('owes', slow).refusedBy).toBe('rate');
  expect(held.lease).toBeDefined();
  expect(limiter.take('holds', limits({ limit: 10, period: 1, burst: 10, concurrent: 1 })).refusedBy).toBe(
    'concurrency',
  );
});
