import { describe, expect, it, vi } from 'vitest';
import type { ComparedAccount, Counts } from '../../../plugins/canary/run/counts.ts';
import { findTotalFailure } from '../../../plugins/canary/run/total-failure.ts';
import {
  canEvaluate,
  calculateFirstLook,
  evaluateCanary,
  type Evaluation,
  type Looks,
} from '../../../plugins/canary/run/verdict.ts';

vi.setConfig({ testTimeout: 60_000 });

/** The same numbers in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Shop {
  readonly accounts: number;
  readonly share: number;
  /** Requests of all accounts in the time of the canary. */
  readonly requests: number;
  /** And before it, as far as they count. */
  readonly before?: number;
  /** Probability that a request fails, on both sides; a few accounts fail far more often. */
  readonly failing: number;
  /** More of it with the canary, and how much longer its answers take. */
  readonly more?: number;
  readonly slower?: number;
}

function send(
  { failing, time }: { readonly failing: number; readonly time: number },
  counts: { -readonly [Name in keyof Counts]: Counts[Name] },
  expected: number,
  random: () => number,
  { more = 0, slower = 1 }: { readonly more?: number; readonly slower?: number } = {},
): void {
  const requests = poisson(expected, random);
  const failures = Math.min(requests, poisson(requests * (failing + more), random));
  const timed = requests - failures;
  const spread = Math.sqrt(timed) * (random() + random() + random() - 1.5);
  counts.requests += requests;
  counts.failures += failures;
  counts.timed += timed;
  counts.logSum += timed * (time + Math.log(slower)) + 0.6 * spread;
}

function poisson(mean: number, random: () => number): number {
  let count = 0;
  for (let product = random(); product > Math.exp(-mean); product *= random()) count++;
  return count;
}

/** Plays one canary: accounts of very different size and luck, looked at forty times. */
async function play(shop: Shop, random: () => number, rounds = 40): Promise<Evaluation> {
  const { accounts: count, share, requests, failing, more = 0, slower = 1, before = 0 } = shop;
  const size = Math.max(1, Math.round(count * share));
  const sizes = Array.from({ length: count }, () => 0.05 - Math.log(1 - random()));
  const all = sizes.reduce((sum, one) => sum + one, 0);
  const empty = { requests: 0, failures: 0, refusals: 0, timed: 0, logSum: 0 };
  const accounts = sizes.map((one, index) => ({
    ...empty,
    before: { ...empty },
    isCanary: index < size,
    weight: one / all,
    // One in twenty has a broken client, whichever side it is on.
    failing: random() < 0.05 ? 0.5 : failing,
    time: 6 + random() * 2,
  }));
  for (const account of accounts) send(account, account.before, account.weight * before, random);
  let looks: Looks = { looks: 0, lateLooks: 0, nextLook: calculateFirstLook(share) };
  for (let round = 1; round <= rounds; round++) {
    for (const account of accounts) {
      const { isCanary } = account;
      const change = isCanary ? { more, slower } : {};
      send(account, account, account.weight * (requests / rounds), random, change);
    }
    const seen = accounts.filter((account) => account.requests > 0);
    const judgement = await evaluateCanary(seen, looks, round === rounds, random);
    if (judgement.verdict === 'worse' || round === rounds) return judgement;
    looks = judgement;
  }
  throw new Error('no round');
}

async function verdicts(shop: Shop, times: number): Promise<Record<Evaluation['verdict'], number>> {
  const counts = { too_few: 0, undecided: 0, no_worse: 0, worse: 0 };
  const random = randomFrom(7);
  for (let time = 0; time < times; time++) counts[(await play(shop, random)).verdict]++;
  return counts;
}

const usual: Shop = { accounts: 100, share: 0.1, requests: 20_000, before: 20_000, failing: 0.01 };

describe('a canary that is looked at again and again', () => {
  it('is taken back in at most one of a hundred cases where it changes nothing', async () => {
    expect((await verdicts(usual, 200)).worse).toBeLessThanOrEqual(2);
  });

  it('is found where five percent more of its requests fail', async () => {
    expect((await verdicts({ ...usual, more: 0.05 }, 50)).worse).toBeGreaterThanOrEqual(45);
  });

  it('is found where its answers take twice as long to begin', async () => {
    expect((await verdicts({ ...usual, slower: 2 }, 50)).worse).toBeGreaterThanOrEqual(48);
  });

  it('becomes full after its time where it changes nothing', async () => {
    expect((await verdicts(usual, 50)).no_worse).toBeGreaterThanOrEqual(40);
  });

  it('never becomes full with too few requests or accounts', async () => {
    expect(await verdicts({ ...usual, requests: 400 }, 20)).toMatchObject({ too_few: 20 });
    expect(await verdicts({ ...usual, accounts: 30 }, 20)).toMatchObject({ too_few: 20 });
  });
});

describe('a canary of which nothing works', () => {
  const empty: Counts = { requests: 0, failures: 0, refusals: 0, timed: 0, logSum: 0 };
  const account = (isCanary: boolean, requests: number, failures: number, more: Partial<ComparedAccount> = {}) => ({
    ...empty,
    before: { ...empty, requests: 50 },
    isCanary,
    requests,
    failures,
    ...more,
  });
  const start: Looks = { looks: 0, lateLooks: 0, nextLook: calculateFirstLook(0.5) };
  const verdictOf = async (...accounts: ComparedAccount[]) => (await evaluateCanary(accounts, start, false)).verdict;

  it('is rolled back after ten requests of two accounts, if one account outside it is fine', async () => {
    const { verdict, reason } = await evaluateCanary(
      [account(true, 4, 4), account(true, 6, 6), account(false, 12, 1)],
      start,
      false,
    );
    expect([verdict, reason]).toEqual([
      'worse',
      'not one request worked: 10 of 10 of 2 accounts failed or were rejected, against 1 of 12 of the other accounts',
    ]);
  });

  it.each<[string, ComparedAccount[]]>([
    ['one request worked', [account(true, 9, 9), account(true, 9, 8), account(false, 99, 0)]],
    ['only one account has sent anything', [account(true, 30, 30), account(false, 99, 0)]],
    ['nine requests are all', [account(true, 4, 4), account(true, 5, 5), account(false, 99, 0)]],
    ['the others fail as well', [account(true, 9, 9), account(true, 9, 9), account(false, 50, 11)]],
    ['the others have sent nothing', [account(true, 9, 9), account(true, 9, 9)]],
    [
      'one of two had failed before',
      [
        account(true, 9, 9),
        account(true, 9, 9, { before: { ...empty, requests: 9, failures: 5 } }),
        account(false, 99, 0),
      ],
    ],
    [
      'one of two is new and is refused',
      [account(true, 9, 9), account(true, 9, 0, { refusals: 9, before: empty }), account(false, 99, 0)],
    ],
  ])('is not assumed where %s', async (_what, accounts) => {
    expect(await verdictOf(...accounts)).toBe('too_few');
  });

  /** Plays a small shop for sixty rounds. @returns requests of the canary at which it was taken back */
  function playSmall(random: () => number, accounts: number, taken: number, isBroken: boolean): number | undefined {
    const all = Array.from({ length: accounts }, (_, index) => {
      const before = { ...empty, requests: 20 };
      // One account in twenty goes wrong by itself, for as long as the canary runs.
      const own = random() < 0.05 ? 1 : 0.02;
      const failing = isBroken && index < taken ? 1 : own;
      return { ...empty, before, isCanary: index < taken, failing, requests: 0, failures: 0, refusals: 0 };
    });
    for (let round = 0; round < 60; round++) {
      for (const one of all) {
        if (random() > 0.3) continue;
        one.requests++;
        if (random() < one.failing) one.failures++;
      }
      const seen = all.filter(({ requests }) => requests > 0);
      if (findTotalFailure(seen) !== undefined)
        return seen.reduce((sum, { isCanary, requests }) => sum + (isCanary ? requests : 0), 0);
    }
    return undefined;
  }

  it.each([
    [3, 2],
    [6, 2],
    [12, 3],
    [30, 3],
  ])(
    'of %i accounts, %i in the canary, is found soon, and said of at most one in two hundred that changes nothing',
    (accounts, taken) => {
      const random = randomFrom(11);
      const times = 1_000;
      const played = (isBroken: boolean) =>
        Array.from({ length: times }, () => playSmall(random, accounts, taken, isBroken));
      const wrong = played(false).filter((requests) => requests !== undefined).length;
      const found = played(true).filter((requests) => requests !== undefined);
      expect(wrong / times).toBeLessThanOrEqual(0.005);
      expect(found.length / times).toBeGreaterThanOrEqual(0.85);
    },
  );
});

it('thirty accounts at ten percent are too few for a comparison, forty are enough', () => {
  expect([canEvaluate(3, 30), canEvaluate(5, 40), canEvaluate(7, 14)]).toEqual([false, true, true]);
});
