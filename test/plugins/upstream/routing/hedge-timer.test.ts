import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConnectingAttempt } from '../../../../plugins/upstream/connections/connect-queue.ts';
import { HedgeTimer } from '../../../../plugins/upstream/routing/hedge-timer.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A connection that is doubted after so many ms, unless it is open by then. */
function connectionDoubtedAfter(ms: number): ConnectingAttempt {
  const doubtAt = performance.now() + ms;
  let isOpen = false;
  return {
    get hedgeAfter() {
      return isOpen ? undefined : Math.max(0, doubtAt - performance.now());
    },
    leave: () => (isOpen = true),
  };
}

/** When the race says `late`; undefined when it has not within so many ms. */
async function lateAfter(hedgeTimer: HedgeTimer, within = 10_000): Promise<number | undefined> {
  const began = performance.now();
  let after: number | undefined;
  void hedgeTimer.race([new Promise<never>(() => undefined)]).then(() => (after = performance.now() - began));
  await vi.advanceTimersByTimeAsync(within);
  return after;
}

describe('the hedge timer', () => {
  it('the hedge timer never fires without hedge_after and a doubtful connection', async () => {
    const hedgeTimer = new HedgeTimer();
    hedgeTimer.start();
    expect(await lateAfter(hedgeTimer)).toBeUndefined();
  });

  it('the hedge timer fires after the hedge_after of the model', async () => {
    const hedgeTimer = new HedgeTimer(0.5);
    hedgeTimer.start();
    expect(await lateAfter(hedgeTimer)).toBe(500);
  });

  it('the hedge timer fires when the connection of the route is doubtful', async () => {
    const hedgeTimer = new HedgeTimer(0.5);
    hedgeTimer.start();
    hedgeTimer.noteConnecting(connectionDoubtedAfter(300));
    expect(await lateAfter(hedgeTimer)).toBe(300);
  });

  it('the hedge timer counts from the start of the attempt, although its connection was doubtful meanwhile', async () => {
    const hedgeTimer = new HedgeTimer(0.5);
    hedgeTimer.start();
    const connection = connectionDoubtedAfter(300);
    hedgeTimer.noteConnecting(connection);
    setTimeout(connection.leave, 200);
    expect(await lateAfter(hedgeTimer)).toBe(500);
  });

  it('the hedge timer fires once for each route', async () => {
    const hedgeTimer = new HedgeTimer(0.5);
    hedgeTimer.start();
    expect(await lateAfter(hedgeTimer)).toBe(500);
    expect(await lateAfter(hedgeTimer)).toBeUndefined();
    hedgeTimer.start();
    expect(await lateAfter(hedgeTimer)).toBe(500);
  });

  it('the hedge timer does not fire when the route answers in time', async () => {
    const hedgeTimer = new HedgeTimer(0.5);
    hedgeTimer.start();
    expect(await hedgeTimer.race([Promise.resolve('answer')])).toBe('answer');
    expect(vi.getTimerCount()).toBe(0);
  });
});
