import { describe, expect, it } from 'vitest';
import { intervalFor, RenderQueue } from '#core/pages/live/render-queue.ts';

describe('the interval between two renderings', () => {
  it.each([
    [0, 1_000],
    [0.5, 1_000],
    [0.75, 3_000],
    [1, 5_000],
  ])('on a loop that is busy for %d of the time is %d ms', (utilization, interval) => {
    expect(intervalFor(utilization)).toBe(interval);
  });
});

it('runs two renderings at a time, in their order, each once', async () => {
  const queue = new RenderQueue();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const works = ['a', 'b', 'c', 'd'].map((name) => () => {
    begun.push(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(name, resolve);
    return promise;
  });
  for (const work of [...works, ...works.slice(2)]) queue.add(work);
  expect(begun).toEqual(['a', 'b']);
  ends.get('b')?.();
  await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
  ends.get('a')?.();
  await expect.poll(() => begun).toEqual(['a', 'b', 'c', 'd']);
  for (const end of ends.values()) end();
});
