import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Waiting } from '../../../../plugins/upstream/attempt/connect-queue.ts';
import { Patience } from '../../../../plugins/upstream/routing/hedge-timer.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A connection that is doubted after so many ms, unless it is open by then. */
function connectionDoubtedAfter(ms: number): Waiting {
  const doubtAt = performance.now() + ms;
  let isOpen = false;
  return {
    get doubtAfter() {
      return isOpen ? undefined : Math.max(0, doubtAt - performance.now());
    },
    leave: () => (isOpen = true),
  };
}

/** When the race says `late`; undefined when it has not within so many ms. */
async function lateAfter(patience: Patience, within = 10_000): Promise<number | undefined> {
  const began = performance.now();
  let after: number | undefined;
  void patience.race([new Promise<never>(() => undefined)]).then(() => (after = performance.now() - began));
  await vi.advanceTimersByTimeAsync(within);
  return after;
}

describe('patience with a route', () => {
  it('has no end when nothing bounds it', async () => {
    const patience = new Patience();
    patience.begin();
    expect(await lateAfter(patience)).toBeUndefined();
  });

  it('ends when the model says so', async () => {
    const patience = new Patience(0.5);
    patience.begin();
    expect(await lateAfter(patience)).toBe(500);
  });

  it('ends when its connection is doubted', async () => {
    const patience = new Patience(0.5);
    patience.begin();
    patience.connecting(connectionDoubtedAfter(300));
    expect(await lateAfter(patience)).toBe(300);
  });

  it('counts from when the route was asked, although its connection was doubted meanwhile', async () => {
    const patience = new Patience(0.5);
    patience.begin();
    const connection = connectionDoubtedAfter(300);
    patience.connecting(connection);
    setTimeout(connection.leave, 200);
    expect(await lateAfter(patience)).toBe(500);
  });

  it('ends once for each route', async () => {
    const patience = new Patience(0.5);
    patience.begin();
    expect(await lateAfter(patience)).toBe(500);
    expect(await lateAfter(patience)).toBeUndefined();
    patience.begin();
    expect(await lateAfter(patience)).toBe(500);
  });

  it('is not needed when the route answers', async () => {
    const patience = new Patience(0.5);
    patience.begin();
    expect(await patience.race([Promise.resolve('answer')])).toBe('answer');
    expect(vi.getTimerCount()).toBe(0);
  });
});
