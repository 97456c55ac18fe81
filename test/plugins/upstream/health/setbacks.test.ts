import { beforeEach, describe, expect, it } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import type { Requester } from '../../../../plugins/upstream/health/requester.ts';
import { Setbacks } from '../../../../plugins/upstream/health/setbacks.ts';

let setbacks: Setbacks;
beforeEach(() => {
  setbacks = new Setbacks();
});
const requester = (account: string, conversation: string): Requester => ({
  account,
  conversation: account + conversation,
});
const [first, second, third] = ['1', '2', '3'].map((name) => requester('a', name)) as [Requester, Requester, Requester];
const fail = (by: Requester, now: number, times = 1) => {
  for (let time = 0; time < times; time++) setbacks.recordFailure(by, now);
};
/** Ms for which it comes last from now on, in steps of a second. */
const pauseOf = (by: Requester, now: number) => {
  let end = now;
  while (setbacks.isDemoted(by, end)) end += 1_000;
  return end - now;
};

describe('a route that fails a conversation', () => {
  it('comes last for that conversation alone, after two failures, for half a minute', () => {
    fail(first, 0);
    expect(setbacks.isDemoted(first, 0)).toBe(false);
    fail(first, 0);
    expect([pauseOf(first, 0), pauseOf(second, 0)]).toEqual([30_000, 0]);
  });

  it('comes last for twice as long each time that it fails after that, for ten minutes at most', () => {
    fail(first, 0, 2);
    const pauses = [];
    for (let now = 30_000, time = 0; time < 6; time++) {
      fail(first, now);
      pauses.push(pauseOf(first, now));
      now += pauses.at(-1) as number;
    }
    expect(pauses).toEqual([60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
  });

  it('starts anew once it has served it, and long after the last failure', () => {
    fail(first, 0, 2);
    setbacks.recordSuccess(first);
    fail(first, 1_000);
    expect(setbacks.isDemoted(first, 1_000)).toBe(false);
    fail(first, 602_000);
    expect(setbacks.isDemoted(first, 602_000)).toBe(false);
  });

  it('is not put off by the failures of requests that were in flight', () => {
    fail(first, 0, 2);
    fail(first, 10_000, 5);
    expect(pauseOf(first, 0)).toBe(30_000);
  });
});

describe('a route that fails two conversations of an account', () => {
  beforeEach(() => {
    fail(first, 0, 2);
    fail(second, 1_000, 2);
  });

  it('comes last for all that the account asks, and not for others', () => {
    expect([pauseOf(third, 1_000), setbacks.isDemoted(requester('b', '1'), 1_000)]).toEqual([30_000, false]);
  });

  it('comes last for twice as long when it fails another one afterwards', () => {
    fail(third, 31_000, 2);
    expect(pauseOf(requester('a', '4'), 31_000)).toBe(60_000);
  });

  it('comes in its order again once it has served one', () => {
    setbacks.recordSuccess(third);
    expect(setbacks.isDemoted(third, 1_000)).toBe(false);
    expect(setbacks.isDemoted(first, 1_000)).toBe(true);
  });
});

it('a route that fails one conversation again and again does not come last for the whole account', () => {
  for (let now = 0; now < 3_600_000; now += 30_000) fail(first, now, 2);
  expect(setbacks.isDemoted(second, 3_600_000)).toBe(false);
});

it('a route remembers a bounded number of those that it has failed', () => {
  for (let index = 0; index < bounds.setbacks + 10; index++) fail(requester(`account ${index}`, ''), 0, 2);
  expect(setbacks.isDemoted(requester('account 0', ''), 0)).toBe(false);
  expect(setbacks.isDemoted(requester(`account ${bounds.setbacks}`, ''), 0)).toBe(true);
});
