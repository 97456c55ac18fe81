import { expect, it } from 'vitest';
import { createGrowingCache } from '#core/platform/memory/growing-cache.ts';

it('a growing cache evicts the least recently used entry above its bound, and counts a replaced entry once', () => {
  const cache = createGrowingCache<number>(2);
  cache.set('first', 1);
  cache.set('second', 2);
  cache.set('second', 3);
  expect(cache.get('first')).toBe(1);
  cache.set('third', 4);
  expect([...cache.entries()]).toEqual([
    ['third', 4],
    ['first', 1],
  ]);
});

it('an empty growing cache has not allocated memory for its bound', () => {
  // Node.js could not allocate an array of this length.
  expect(createGrowingCache<number>(Number.MAX_SAFE_INTEGER).size).toBe(0);
});
