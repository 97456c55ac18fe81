import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CallBudget, type Urgency } from '#core/business/payments/call-budget.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';

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
  return budget.turn(rate, urgency, CallBudget.patience(urgency)).then(
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
      void budget.turn(10, urgency, performance.now() + 60_000).then(() => done.push(urgency));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(done).toEqual(['notification', 'charge', 'poll']);
  });

  it('leaves half of a burst to calls that somebody waits for', async () => {
    const polls = turns(40, 'poll');
    await vi.advanceTimersByTimeAsync(1);
    const charge = turn('charge');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await charge).toBeLessThan(5);
    const times = await Promise.all(polls);
    expect(times.filter((time) => typeof time === 'number' && time < 5)).toHaveLength(20);
  });

  it('refuses a call for which its turn comes too late, which nobody counts as a failure', async () => {
    budget.exhausted(60);
    const refused = (await turn('charge')) as PaymentError;
    expect(refused).toMatchObject({ kind: 'temporary', isRateLimited: true });
    expect(refused.retryAfter).toBeCloseTo(60, 0);
  });

  it('pauses for as long as the provider asks, and continues at half the rate', async () => {
    budget.exceeded(performance.now(), 3);
    const all = Promise.all(turns(40));
    await vi.advanceTimersByTimeAsync(14_000);
    const times = (await all) as number[];
    expect(times[0]).toBeGreaterThanOrEqual(3_000);
    expect(times.filter((time) => time < 3_100).length).toBeLessThanOrEqual(22);
  });

  it('is halved once by a burst of refusals that were sent together', async () => {
    const sentAt = performance.now();
    await vi.advanceTimersByTimeAsync(100);
    for (let refusals = 0; refusals < 10; refusals++) budget.exceeded(sentAt, 0);
    const all = Promise.all(turns(30));
    await vi.advanceTimersByTimeAsync(15_000);
    expect(((await all) as number[]).at(-1)).toBeLessThan(3_500);
  });

  it('is known to another instance, which stops as well', async () => {
    const shared = new MemoryShared();
    const [one, other] = [new CallBudget('key', shared), new CallBudget('key', shared)];
    await shared.events.subscribe('payments:rate', (message) => other.adapt(JSON.parse(message)));
    one.exhausted(60);
    await vi.advanceTimersByTimeAsync(1);
    await expect(other.turn(10, 'charge', CallBudget.patience('charge'))).rejects.toBeInstanceOf(PaymentError);
  });
});
