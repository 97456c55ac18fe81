import { describe, expect, it, vi } from 'vitest';
import { createLogger } from '#core/platform/logger.ts';
import { RenderQueue, computeRate } from '#core/web/live/render-queue.ts';

const silentLog = createLogger(() => undefined);

describe('the rate of renderings is', () => {
  it.each([
    ['is the lowest that pages are of use at while little is to do', 0, 4],
    ['costs three percent of what requests cost', 1_000, 7.5],
    ['is the highest again on a process that many requests keep busy', 4_000, 25],
  ])('%s', (_, load, rate) => {
    expect(computeRate(load)).toBe(rate);
  });
});

it('the render queue is kept, however many views there are', async () => {
  vi.useFakeTimers();
  try {
    const queue = new RenderQueue({ spacingMs: 100, countRendering: () => undefined }, silentLog);
    let count = 0;
    for (let view = 0; view < 50; view++)
      queue.add(async () => {
        count++;
      });
    await vi.advanceTimersByTimeAsync(1_050);
    expect(count).toBe(11);
    queue.close();
  } finally {
    vi.useRealTimers();
  }
});

it('the render queue runs two renderings at a time, in their order, each once', async () => {
  const queue = new RenderQueue({ spacingMs: 0, countRendering: () => undefined }, silentLog);
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

it('the render queue runs routine renderings after those that show news, and none twice', async () => {
  vi.useFakeTimers();
  try {
    const queue = new RenderQueue({ spacingMs: 10, countRendering: () => undefined }, silentLog);
    const begun: string[] = [];
    const work = (name: string) => async () => void begun.push(name);
    const [urgent, promoted] = [work('urgent'), work('promoted')];
    queue.add(work('first'));
    for (const routine of [work('routine'), promoted]) queue.add(routine, true);
    for (const news of [urgent, promoted]) queue.add(news);
    queue.add(urgent, true);
    await vi.advanceTimersByTimeAsync(100);
    expect(begun).toEqual(['first', 'urgent', 'promoted', 'routine']);
    queue.close();
  } finally {
    vi.useRealTimers();
  }
});

it('the render queue renders routine work in the end, however much is urgent', async () => {
  vi.useFakeTimers();
  try {
    const queue = new RenderQueue({ spacingMs: 10, countRendering: () => undefined }, silentLog);
    const begun: string[] = [];
    const busy = ['one', 'two'].map((name) => {
      const work = async (): Promise<void> => {
        begun.push(name);
        queueMicrotask(() => queue.add(work));
      };
      return work;
    });
    for (const work of busy) queue.add(work);
    queue.add(async () => void begun.push('routine'), true);
    await vi.advanceTimersByTimeAsync(100);
    expect(begun.indexOf('routine')).toBe(4);
    queue.close();
  } finally {
    vi.useRealTimers();
  }
});
