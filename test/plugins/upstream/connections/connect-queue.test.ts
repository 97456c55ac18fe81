import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConnectQueue } from '../../../../plugins/upstream/connections/connect-queue.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const enter = (queue: ConnectQueue, count: number) => Array.from({ length: count }, () => queue.enter());

describe('attempts that wait for a connection', () => {
  it('wait until the connect timeout when they are few', () => {
    const queue = new ConnectQueue();
    expect(enter(queue, 10).map(({ hedgeAfter }) => hedgeAfter)).toEqual(Array(10).fill(undefined));
  });

  it('over that number count it as doubtful once the first has waited too long', () => {
    const queue = new ConnectQueue();
    enter(queue, 10);
    vi.advanceTimersByTime(200);
    const late = queue.enter();
    expect(late.hedgeAfter).toBe(100);
    vi.advanceTimersByTime(200);
    expect(queue.enter().hedgeAfter).toBe(0);
  });

  it('are not doubtful any more once they are connected', () => {
    const queue = new ConnectQueue();
    enter(queue, 10);
    const late = queue.enter();
    late.leave();
    expect(late.hedgeAfter).toBeUndefined();
  });

  it('count from those that still wait', () => {
    const queue = new ConnectQueue();
    const first = enter(queue, 10);
    vi.advanceTimersByTime(200);
    const late = queue.enter();
    for (const waiting of first) waiting.leave();
    expect(late.hedgeAfter).toBe(300);
  });
});
