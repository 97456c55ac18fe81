import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeadlineExceeded, waitForFirst, notSettled, withDeadline } from '#core/platform/timing/deadline.ts';

const never = () => new Promise<never>(() => undefined);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('withDeadline', () => {
  it('returns what the work returns and leaves no timer behind', async () => {
    expect(await withDeadline(Promise.resolve(1), 100, 'too late')).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects with what the work rejects with', async () => {
    await expect(withDeadline(Promise.reject(new Error('broken')), 100, 'too late')).rejects.toThrow('broken');
  });

  it('rejects with the message once the time is up', async () => {
    const result = expect(withDeadline(never(), 100, 'too late')).rejects.toThrow(new DeadlineExceeded('too late'));
    await vi.advanceTimersByTimeAsync(100);
    await result;
  });
});

describe('waitForFirst', () => {
  it('returns the first of several', async () => {
    expect(await waitForFirst([never(), Promise.resolve(2)], 100)).toBe(2);
  });

  it('returns late once the time is up', async () => {
    const result = waitForFirst([never()], 100);
    await vi.advanceTimersByTimeAsync(100);
    expect(await result).toBe(notSettled);
  });

  it('returns late as soon as the signal aborts', async () => {
    const controller = new AbortController();
    const result = waitForFirst([never()], Infinity, controller.signal);
    controller.abort();
    expect(await result).toBe(notSettled);
  });

  it('waits without a timer when the time is infinite', async () => {
    expect(await waitForFirst([Promise.resolve(3)], Infinity)).toBe(3);
    expect(vi.getTimerCount()).toBe(0);
  });
});
