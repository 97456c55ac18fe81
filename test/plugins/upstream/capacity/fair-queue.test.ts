import { describe, expect, it } from 'vitest';
import { unusedResult } from '#core/platform/shared/slots.ts';
import { FairQueue } from '../../../../plugins/upstream/capacity/fair-queue.ts';
import { jain, limits, p95, type Served, Simulation } from './simulation.ts';

const accounts = Array.from({ length: 20 }, (_, index) => `account-${index}`);
const light = accounts.slice(1);
const usedBy = (served: readonly Served[], account: string) =>
  served.filter((one) => one.account === account).reduce((sum, one) => sum + one.endedAt - one.startedAt, 0);

/** Nineteen accounts send one request each second, and the first, if it is heavy, five hundred at once after five seconds. */
function hour(isHeavy: boolean): Simulation {
  const simulation = new Simulation();
  for (const [index, account] of light.entries())
    for (let second = 0; second < 40; second++)
      simulation.at(second * 1_000 + index * 53, () => simulation.ask(account));
  if (isHeavy)
    simulation.at(5_003, () => {
      for (let count = 0; count < 500; count++) simulation.ask(accounts[0] as string);
    });
  simulation.until(60_000);
  return simulation;
}

/** Accounts that always have so many requests waiting or running, for two minutes. */
function greedy(
  queued: (index: number) => number,
  weight: (index: number) => number = () => 1,
  takes: (account: string) => number = () => 500,
): number[] {
  const simulation = new Simulation({}, takes);
  for (const [index, account] of accounts.entries()) {
    const again = () => void simulation.ask(account, weight(index), again);
    for (let count = 0; count < queued(index); count++) again();
  }
  simulation.until(120_000);
  return accounts.map((account) => usedBy(simulation.served, account));
}

/** Ms that requests of the light accounts took. */
function lightTimes({ served }: Simulation): number[] {
  return served.filter(({ account }) => account !== accounts[0]).map(({ askedAt, endedAt }) => endedAt - askedAt);
}

/** Asks a queue with the usual limits, for one account. */
function ask(queue: FairQueue, id: string, now: number) {
  return queue.enter({ id, account: 'a', weight: 1, mayWait: true }, limits, now);
}

describe('a fair queue', () => {
  it('keeps the waits of nineteen light accounts within 1.5 times of those without a heavy one', () => {
    expect(p95(lightTimes(hour(true)))).toBeLessThanOrEqual(1.5 * p95(lightTimes(hour(false))));
  });

  it('leaves no slot idle while requests wait', () => {
    const { served } = hour(true);
    const heavy = served.filter(({ account }) => account === accounts[0]);
    const end = Math.max(...heavy.map(({ startedAt }) => startedAt));
    const used = served.map(({ startedAt, endedAt }) =>
      Math.max(0, Math.min(end, endedAt) - Math.max(5_003, startedAt)),
    );
    const sum = used.reduce((all, time) => all + time, 0);
    expect(heavy).toHaveLength(500);
    expect(sum / (20 * (end - 5_003))).toBeGreaterThan(0.99);
  });

  it('divides slot time equally, however many requests an account has waiting', () => {
    expect(jain(greedy((index) => 2 + index * 5))).toBeGreaterThan(0.99);
  });

  it('divides slot time, not requests, where those of some accounts take longer', () => {
    expect(
      jain(
        greedy(
          () => 8,
          undefined,
          (account) => (account.endsWith('0') ? 4_000 : 400),
        ),
      ),
    ).toBeGreaterThan(0.98);
  });

  it('gives an account of weight 3 three times the slot time of the others', () => {
    const [first = 0, ...others] = greedy(
      () => 12,
      (index) => (index === 0 ? 3 : 1),
    );
    const mean = others.reduce((sum, time) => sum + time, 0) / others.length;
    expect(first / mean).toBeGreaterThan(2.7);
    expect(first / mean).toBeLessThan(3.3);
    expect(jain(others)).toBeGreaterThan(0.99);
  });

  it('prefers an account that used little lately to one that used much, and starves neither', () => {
    const simulation = new Simulation();
    const keepAsking = (account: string) => {
      const again = () => void simulation.ask(account, 1, again);
      for (let count = 0; count < 40; count++) again();
    };
    keepAsking('old');
    simulation.at(60_000, () => keepAsking('new'));
    simulation.until(70_000);
    const since = simulation.served.filter(({ startedAt }) => startedAt >= 60_500);
    expect(usedBy(since, 'new')).toBeGreaterThan(usedBy(since, 'old'));
    expect(usedBy(since, 'old')).toBeGreaterThan(0.15 * usedBy(since, 'new'));
  });

  it('serves the requests of an account in the order in which they came', () => {
    const simulation = new Simulation({ concurrent: 3 });
    const asked = Array.from({ length: 60 }, (_, index) => simulation.ask(`account-${index % 2}`));
    simulation.until(60_000);
    const order = simulation.served.toSorted((a, b) => a.startedAt - b.startedAt).map(({ id }) => id);
    for (const account of ['account-0', 'account-1'])
      expect(order.filter((id) => id.startsWith(account))).toEqual(asked.filter((id) => id.startsWith(account)));
  });

  it('refuses what is over the bound of an account, and over that of all', () => {
    const simulation = new Simulation({ concurrent: 1, waitingByAccount: 2, waiting: 3 });
    const asked = ['a', 'a', 'a', 'a', 'b', 'c'].map((account) => simulation.ask(account));
    expect(simulation.refused).toEqual([asked[3], asked[5]]);
  });

  it('passes the turn of a request that has left on to the next one', () => {
    const simulation = new Simulation({ concurrent: 1 });
    const [, second, third] = [simulation.ask('a'), simulation.ask('b'), simulation.ask('c')];
    simulation.leave(second as string);
    simulation.until(1_000);
    expect(simulation.served.map(({ id }) => id)).not.toContain(second);
    expect(simulation.served.at(-1)?.id).toBe(third);
  });

  it('never starts more requests in a period than its rate after the first burst', () => {
    const simulation = new Simulation({ concurrent: Infinity, requests: 60 });
    for (let count = 0; count < 200; count++) simulation.ask('a');
    simulation.until(60_000);
    const starts = simulation.served.map(({ startedAt }) => startedAt);
    expect(starts.filter((time) => time < 1)).toHaveLength(60);
    expect(starts.filter((time) => time >= 1 && time < 30_000).length).toBeLessThanOrEqual(30);
    expect(simulation.served.length).toBeGreaterThan(115);
  });

  it('says which place a request has, and when it is its turn', () => {
    const queue = new FairQueue();
    const enter = (id: string, account: string) =>
      queue.enter({ id, account, weight: 1, mayWait: true }, { ...limits, concurrent: 1 }, 0);
    enter('1', 'a');
    for (const id of ['2', '3', '4']) enter(id, 'a');
    expect(enter('5', 'b')).toMatchObject({ state: 'waiting', position: 2, expectedMs: 2_000 });
    expect(enter('6', 'b')).toMatchObject({ state: 'waiting', position: 4 });
  });

  it('believes in fewer slots after a refusal, and in all of them again after many served requests', () => {
    const queue = new FairQueue();
    for (let index = 0; index < 20; index++) ask(queue, `${index}`, 0);
    queue.end('0', { isServed: false, refusedShare: 1 }, limits, 10);
    // Sent before the first refusal, so it tells nothing new.
    queue.end('1', { isServed: false, refusedShare: 1 }, limits, 11);
    expect(queue.currentLimit(limits, 11)).toBe(14);
    for (let index = 2; index < 20; index++) queue.end(`${index}`, { isServed: true, refusedShare: 0 }, limits, 20);
    for (let round = 1; round < 200; round++) {
      for (let index = 0; index < 20; index++) ask(queue, `${round}-${index}`, round * 500);
      for (let index = 0; index < 20; index++)
        queue.end(`${round}-${index}`, { isServed: true, refusedShare: 0 }, limits, round * 500 + 499);
    }
    expect(queue.currentLimit(limits, 100_000)).toBe(20);
  });

  it('starts no more than the headers of an upstream allow, until they expire', () => {
    const queue = new FairQueue();
    ask(queue, '1', 0);
    queue.end('1', { isServed: true, refusedShare: 0, remaining: { requests: 1, validForMs: 2_000 } }, limits, 100);
    expect(ask(queue, '2', 200).state).toBe('running');
    expect(ask(queue, '3', 200)).toMatchObject({ state: 'waiting', nextInMs: 1_900 });
    expect(queue.beat(limits, 2_100).grantedIds).toEqual(['3']);
  });

  it('takes back what it charged for a slot that was not used', () => {
    const queue = new FairQueue();
    const one = { ...limits, concurrent: 1 };
    const want = (id: string, account: string) => queue.enter({ id, account, weight: 1, mayWait: true }, one, 0);
    want('1', 'a');
    queue.end('1', unusedResult, one, 0);
    want('2', 'b');
    want('3', 'a');
    want('4', 'c');
    expect(queue.end('2', unusedResult, one, 0).grantedIds).toEqual(['3']);
  });
});
