import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CallBudget, type Urgency } from '#core/business/payments/call-budget.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';

let budget: CallBudget;
beforeEach(() => {
  vi.useFakeTimers();
  budget = new CallBudget('payments:fake:charge', new MemoryShared());
});
afterEach(() => {
  vi.useRealTimers();
});

/** Asks for a turn at ten calls a second. @returns the ms at which it came, or the error */
const turn = (urgency: Urgency, rate = 10) => {
  const began = performance.now();
  return budget.waitForTurn(rate, urgency, CallBudget.turnDeadline(urgency)).then(
    () => performance.now() - began,
    (error: unknown) => error as PaymentError,
  );
};
const turns = (count: number, urgency: Urgency = 'charge') => Array.from({ length: count }, () => turn(urgency));
const spend = async () => {
  const spent = turns(40);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(spent);
};

describe('a budget of calls', () => {
  it('gives four seconds’ worth at once, and the remainder at the rate', async () => {
    const all = Promise.all(turns(60));
    await vi.advanceTimersByTimeAsync(10_000);
    const times = (await all) as number[];
    expect(times.filter((time) => time < 10)).toHaveLength(40);
    expect(times.at(-1)).toBeGreaterThan(1_900);
    expect(times.at(-1)).toBeLessThan(2_500);
  });

  it('takes no more than a minute of its rate in any minute', async () => {
    const all = Promise.all(turns(900));
    await vi.advanceTimersByTimeAsync(60_000);
    const served = ((await all) as (number | PaymentError)[]).filter(
      (time) => typeof time === 'number' && time < 60_000,
    );
    expect(served.length).toBeLessThanOrEqual(600);
  });

  it('serves reads after a notification before charges, and charges before polls', async () => {
    await spend();
    const done: Urgency[] = [];
    for (const urgency of ['poll', 'charge', 'notification'] as const)
      void budget.waitForTurn(10, urgency, performance.now() + 60_000).then(() => done.push(urgency));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(done).toEqual(['notification', 'charge', 'poll']);
  });

  it('leaves half of a burst to calls that a person waits for', async () => {
    const polls = turns(40, 'poll');
    await vi.advanceTimersByTimeAsync(1);
    const charge = turn('charge');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await charge).toBeLessThan(5);
    const times = await Promise.all(polls);
    expect(times.filter((time) => typeof time === 'number' && time < 5)).toHaveLength(20);
  });

  it('refuses a call whose turn would come too late, without counting a failure', async () => {
    budget.pause(60);
    const refused = (await turn('charge')) as PaymentError;
    expect(refused).toMatchObject({ kind: 'temporary', isRateLimited: true });
    expect(refused.retryAfter).toBeCloseTo(60, 0);
  });

  it('pauses for as long as the provider asks, and continues at half the rate', async () => {
    budget.slowDown(performance.now(), 3);
    const all = Promise.all(turns(40));
    await vi.advanceTimersByTimeAsync(14_000);
    const times = (await all) as number[];
    expect(times[0]).toBeGreaterThanOrEqual(3_000);
    expect(times.filter((time) => time < 3_100).length).toBeLessThanOrEqual(22);
  });

  it('is halved once by a burst of refusals that were sent together', async () => {
    const sentAt = performance.now();
    await vi.advanceTimersByTimeAsync(100);
    for (let refusals = 0; refusals < 10; refusals++) budget.slowDown(sentAt, 0);
    const all = Promise.all(turns(30));
    await vi.advanceTimersByTimeAsync(15_000);
    expect(((await all) as number[]).at(-1)).toBeLessThan(3_500);
  });

  it.each([
    ['notification', 15_000],
    ['charge', 15_000],
    ['buyer', 5_000],
    ['poll', 2_000],
    ['books', 120_000],
  ] as const)('lets a call wait for its turn as long as its urgency says: %s for %i ms', async (urgency, patience) => {
    const slow = 0.001; // a turn every seventeen minutes
    await Promise.all([turn('charge', slow), turn('charge', slow)]);
    let refused: unknown;
    void turn(urgency, slow).then((error) => (refused = error));
    await vi.advanceTimersByTimeAsync(patience - 1);
    expect(refused).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(refused).toMatchObject({ kind: 'temporary', isRateLimited: true });
  });

  it('looks for what polls may use about as often as there is something', async () => {
    const shared = new MemoryShared();
    const peek = vi.spyOn(shared.limiter, 'peek');
    budget = new CallBudget('payments:fake:other', shared);
    await spend();
    const polls = Array.from({ length: 5 }, () => budget.waitForTurn(10, 'poll', performance.now() + 60_000));
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(polls);
    expect(peek.mock.calls.length).toBeLessThan(15);
  });

  it('pauses for a second after a refusal without a time, and for two minutes at most', async () => {
    for (const [asked, pause] of [
      [undefined, 1_000],
      [3_600, 120_000],
    ] as const) {
      budget = new CallBudget('payments:fake:charge', new MemoryShared());
      budget.slowDown(performance.now(), asked);
      const began = performance.now();
      let served = 0;
      void budget.waitForTurn(10, 'charge', began + 600_000).then(() => (served = performance.now() - began));
      await vi.advanceTimersByTimeAsync(pause + 100);
      expect([served >= pause, served < pause + 100]).toEqual([true, true]);
    }
  });

  it('serves what is urgent at once although a poll is waiting for its turn', async () => {
    const polls = turns(25, 'poll');
    await vi.advanceTimersByTimeAsync(1);
    const read = turn('notification');
    await vi.advanceTimersByTimeAsync(5);
    expect(await read).toBeLessThan(5);
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all(polls);
  });

  it('refuses at once what five thousand calls are waiting before', async () => {
    budget.pause(10);
    const until = performance.now() + 60_000;
    const waiting = Array.from({ length: 5_000 }, () => budget.waitForTurn(1_000, 'charge', until));
    await expect(budget.waitForTurn(1_000, 'charge', until)).rejects.toMatchObject({ isRateLimited: true });
    await vi.advanceTimersByTimeAsync(60_000);
    await Promise.all(waiting);
  });

  it('is known to another instance, which stops as well', async () => {
    const shared = new MemoryShared();
    const [one, other] = [new CallBudget('key', shared), new CallBudget('key', shared)];
    await shared.events.subscribe('payments:rate', (message) => other.applyChange(JSON.parse(message)));
    one.pause(60);
    await vi.advanceTimersByTimeAsync(1);
    await expect(other.waitForTurn(10, 'charge', CallBudget.turnDeadline('charge'))).rejects.toBeInstanceOf(
      PaymentError,
    );
  });

  it('lets 240 buyers of twenty seconds wait less than five at ten calls a second', async () => {
    const calls: Promise<number | PaymentError>[] = [];
    for (let buyer = 0; buyer < 240; buyer++) {
      calls.push(turn('charge'));
      await vi.advanceTimersByTimeAsync(20_000 / 240);
    }
    await vi.advanceTimersByTimeAsync(15_000);
    const waits = await Promise.all(calls);
    expect(waits.filter((time) => typeof time === 'number' && time < 5_000)).toHaveLength(240);
  });

  it('makes a reconciliation wait in a rush, and refuses it nothing', async () => {
    const buyers = turns(60);
    const read = turn('books');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await read).toBeGreaterThan(3_000);
    await Promise.all(buyers);
  });

  it('is one budget for two instances', async () => {
    const shared = new MemoryShared();
    const times = Promise.all([minuteOf(shared), minuteOf(shared)]);
    await vi.advanceTimersByTimeAsync(100_000);
    expect((await times).flat().filter((time) => time < 60_000).length).toBeLessThanOrEqual(600);
  });

  it('is divided among the instances while the shared store is down', async () => {
    const shared = new MemoryShared();
    Object.assign(shared, { limiter: { instances: 2, take: down, peek: down, release: down } });
    const times = minuteOf(shared);
    await vi.advanceTimersByTimeAsync(130_000);
    const afterBurst = (await times).filter((time) => time > 10_000 && time < 20_000);
    expect(afterBurst.length).toBeGreaterThan(40);
    expect(afterBurst.length).toBeLessThanOrEqual(51);
  });
});

const down = () => Promise.reject(new SharedUnavailable('down'));

/** Ms at which each of 400 calls got its turn at ten a second. */
async function minuteOf(shared: MemoryShared): Promise<number[]> {
  const own = new CallBudget('payments:fake:charge', shared);
  const began = performance.now();
  const at = async () => {
    await own.waitForTurn(10, 'charge', began + 600_000);
    return performance.now() - began;
  };
  return Promise.all(Array.from({ length: 400 }, at));
}
