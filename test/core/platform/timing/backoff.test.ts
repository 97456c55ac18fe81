import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Backoff, exponentialDelay, jitteredDelay, retryUntilDone } from '#core/platform/timing/backoff.ts';
import { wait } from '#core/platform/timing/wait.ts';

const range = { min: 100, max: 1_000 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a delay', () => {
  it('doubles with each failure up to the longest', () => {
    expect([0, 1, 2, 3, 4, 2_000].map((failures) => exponentialDelay(range, failures))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ]);
  });

  it.each([
    [0, 200],
    [0.5, 300],
    [1, 400],
  ])('is shortened by up to half when the draw is %d', (draw, delay) => {
    expect(jitteredDelay(range, 2, () => draw)).toBe(delay);
  });
});

describe('a backoff', () => {
  it('begins again with the first delay after a success', () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const backoff = new Backoff(range);
    const before = [backoff.next(), backoff.next(), backoff.next()];
    backoff.reset();
    expect([...before, backoff.next()]).toEqual([100, 200, 400, 100]);
  });
});

describe('wait', () => {
  it('ends when the time is up', async () => {
    const ended = vi.fn();
    void wait(100, new AbortController().signal).then(ended);
    await vi.advanceTimersByTimeAsync(99);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalled();
  });

  it('ends at once when the signal aborts, before or meanwhile', async () => {
    const controller = new AbortController();
    const meanwhile = wait(100, controller.signal);
    controller.abort();
    await meanwhile;
    await wait(100, controller.signal);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('retryUntilDone', () => {
  it('returns what the work returns in the end, and reports each failure', async () => {
    const work = vi.fn().mockRejectedValueOnce('one').mockRejectedValueOnce('two').mockResolvedValue('done');
    const onFailure = vi.fn();
    const result = retryUntilDone(work, { range, signal: new AbortController().signal, onFailure });
    await vi.advanceTimersByTimeAsync(300);
    expect(await result).toBe('done');
    expect(onFailure.mock.calls).toEqual([
      ['one', 0],
      ['two', 1],
    ]);
  });

  it('ends when the signal aborts, and reports nothing that fails because of it', async () => {
    const controller = new AbortController();
    const onFailure = vi.fn();
    const work = () => {
      controller.abort();
      return Promise.reject(new Error('aborted'));
    };
    expect(await retryUntilDone(work, { range, signal: controller.signal, onFailure })).toBeUndefined();
    expect(onFailure).not.toHaveBeenCalled();
  });
});
