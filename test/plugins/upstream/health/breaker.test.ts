import { beforeEach, describe, expect, it } from 'vitest';
import { type Admission, Breaker } from '../../../../plugins/upstream/health/breaker.ts';
import type { RouteFailure } from '../../../../plugins/upstream/health/evidence.ts';

const options = {
  failures: 3,
  failureRatio: 0.5,
  minimumCalls: 10,
  window: 60_000,
  cooldown: 1_000,
  maxCooldown: 4_000,
};

let breaker: Breaker;
beforeEach(() => {
  breaker = new Breaker(options);
});
/** What went before it opened, or while it was closed. */
const old: Admission = { isProbe: false };
const admits = (now: number, account = 'anybody') => breaker.admit(now, account) !== undefined;
const probeAt = (now: number, account = 'anybody'): Admission => {
  const admission = breaker.admit(now, account);
  if (admission?.isProbe !== true) throw new Error('it is no probe');
  return admission;
};
const succeed = (now: number, by = old, account = 'anybody') => breaker.recordSuccess(now, by, account);

/** A failure that no request can cause, or one of a conversation, by default of an account of its own. */
const failure = (conversation?: string, account = `account of ${conversation}`, retryAfter = 0): RouteFailure => ({
  reason: 'down',
  requester: { account, conversation: conversation ?? '' },
  mayBeCausedByRequest: conversation !== undefined,
  retryAfterMs: retryAfter,
});
const fail = (times: number, now = 0, conversation?: string, account?: string) =>
  Array.from({ length: times }, () => breaker.recordFailure(now, failure(conversation, account), old)).at(-1);
/** Conversations of one account fail, one after the other. */
const failAll = (conversations: readonly string[], account: string, now = 0) =>
  conversations
    .map((conversation) => breaker.recordFailure(now, failure(`${account}/${conversation}`, account), old))
    .at(-1);
const stateAt = (now: number) => breaker.getStatus(now).state;

describe('a closed breaker', () => {
  it('a closed breaker lets requests pass', () => {
    expect(admits(0)).toBe(true);
  });

  it('a closed breaker opens at so many consecutive failures, and reports it once', () => {
    expect([fail(2), fail(1), stateAt(0)]).toEqual([false, true, 'open']);
  });

  it('a closed breaker starts counting again after a success', () => {
    fail(2);
    succeed(0);
    expect([fail(2), stateAt(0)]).toEqual([false, 'closed']);
  });

  it('a closed breaker opens at a share of failures in the window', () => {
    for (let call = 0; call < 5; call++) succeed(call);
    for (let call = 0; call < 4; call++) {
      breaker.recordFailure(100, failure(), old);
      succeed(100);
    }
    fail(2, 100);
    expect(stateAt(100)).toBe('closed');
    for (let call = 0; call < 3; call++) {
      succeed(100);
      fail(2, 100);
    }
    expect(stateAt(100)).toBe('open');
  });

  it('a closed breaker ignores the share of few calls', () => {
    for (let call = 0; call < 4; call++) {
      fail(1);
      succeed(0);
    }
    expect(stateAt(0)).toBe('closed');
  });

  it('a closed breaker forgets calls before the window', () => {
    for (let call = 0; call < 5; call++) {
      fail(1, 0);
      succeed(0);
    }
    for (let call = 0; call < 8; call++) succeed(70_000);
    expect([fail(2, 70_000), stateAt(70_000)]).toEqual([false, 'closed']);
  });

  it('a closed breaker is not opened by one conversation that fails again and again', () => {
    fail(50, 0, 'conversation');
    expect(stateAt(0)).toBe('closed');
  });

  it('a closed breaker is not opened by one conversation that fails while others are served', () => {
    for (let call = 0; call < 50; call++) {
      fail(1, call, 'conversation');
      succeed(call);
    }
    expect(stateAt(50)).toBe('closed');
  });

  it('a closed breaker is not opened by one conversation, however long it waits before it fails again', () => {
    for (const now of [0, 60_000, 120_000, 180_000]) fail(1, now, 'conversation');
    expect(stateAt(180_000)).toBe('closed');
  });

  it('a closed breaker counts a conversation among the failures of each window', () => {
    for (let call = 0; call < 4; call++) {
      succeed(60_000);
      fail(1, 60_000, `conversation ${call}`);
    }
    succeed(120_000);
    for (let call = 0; call < 4; call++) {
      succeed(120_000);
      fail(1, 120_000, `conversation ${call}`);
    }
    fail(1, 120_000, 'another');
    expect(stateAt(120_000)).toBe('open');
  });

  it('a closed breaker counts a conversation again once others have been served', () => {
    for (const now of [0, 60_000, 120_000]) fail(1, now, 'conversation');
    succeed(180_000);
    for (const source of ['a', 'b']) fail(1, 180_000, source);
    expect(stateAt(180_000)).toBe('closed');
    fail(1, 180_000, 'conversation');
    expect(stateAt(180_000)).toBe('open');
  });

  it('a closed breaker is opened by several conversations that fail', () => {
    for (const source of ['a', 'b', 'c']) fail(1, 0, source);
    expect(stateAt(0)).toBe('open');
  });
});

describe('an open breaker', () => {
  beforeEach(() => {
    fail(3);
  });

  it('an open breaker lets nothing pass until the cooldown is over', () => {
    expect([admits(999), admits(1_000)]).toEqual([false, true]);
  });

  it('an open breaker lets one probe pass, and nothing else', () => {
    expect([admits(1_000), admits(1_000), admits(1_001)]).toEqual([true, false, false]);
  });

  it('an open breaker closes when the probe succeeds', () => {
    const probe = probeAt(1_000);
    expect([succeed(1_100, probe), stateAt(1_100), admits(1_100)]).toEqual([true, 'closed', true]);
  });

  it('an open breaker opens again for twice as long when the probe fails, up to the longest pause', () => {
    const pauses = [];
    let now = 0;
    for (let probe = 0; probe < 4; probe++) {
      const { opensFor } = breaker.getStatus(now);
      pauses.push(opensFor);
      now += opensFor;
      breaker.recordFailure(now, failure(), probeAt(now));
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 4_000]);
  });

  it('an open breaker ignores failures of requests that were sent before it opened', () => {
    fail(10, 500);
    expect(breaker.getStatus(500).opensFor).toBe(500);
  });

  it('an open breaker gives the probe to another when its client has left', () => {
    breaker.release(probeAt(1_000));
    expect(admits(1_001)).toBe(true);
  });

  it('an open breaker gives the probe to another request if the first has not reported', () => {
    probeAt(1_000);
    expect(admits(121_000)).toBe(true);
  });

  it('an open breaker learns nothing from a probe by a conversation that has failed before', () => {
    breaker.reset();
    for (const source of ['a', 'b', 'c']) fail(1, 0, source);
    breaker.recordFailure(1_000, failure('a'), probeAt(1_000));
    expect(stateAt(1_000)).toBe('half_open');
    breaker.recordFailure(1_000, failure('d'), probeAt(1_000));
    expect(stateAt(1_001)).toBe('open');
  });

  it('an open breaker is decided by its probe, not by a request that was sent before it opened', () => {
    const probe = probeAt(1_000);
    expect(breaker.recordFailure(1_100, failure(), old)).toBe(false);
    expect(succeed(1_100)).toBe(false);
    breaker.release(old);
    expect([stateAt(1_100), admits(1_100)]).toEqual(['half_open', false]);
    expect(succeed(1_200, probe)).toBe(true);
  });

  it('an open breaker is not decided by a probe that was given up for another', () => {
    const first = probeAt(1_000);
    breaker.release(first);
    const second = probeAt(1_001);
    expect(breaker.recordFailure(1_100, failure(), first)).toBe(false);
    breaker.release(first);
    expect([stateAt(1_100), admits(1_100)]).toEqual(['half_open', false]);
    expect(succeed(1_200, second)).toBe(true);
  });

  it('an open breaker is decided by a probe that retries, for example with another key', () => {
    const probe = probeAt(1_000);
    breaker.release(probe);
    expect(succeed(1_100, probe)).toBe(true);
  });

  it('an open breaker forgets everything at a reset', () => {
    breaker.reset();
    expect([admits(0), fail(2)]).toEqual([true, false]);
  });
});

describe('one account', () => {
  const many = Array.from({ length: 40 }, (_, index) => `c${index}`);

  it('opens no breaker, however many of its conversations fail', () => {
    failAll(many, 'a');
    expect(stateAt(0)).toBe('closed');
  });

  it('opens no breaker by a share of the calls either', () => {
    for (const conversation of many) {
      failAll([conversation], 'a');
      succeed(0, old, 'b');
    }
    expect(stateAt(0)).toBe('closed');
  });

  it('opens it together with another one, in a run', () => {
    expect([failAll(['1', '2', '3'], 'a'), failAll(['1'], 'b'), stateAt(0)]).toEqual([false, true, 'open']);
  });

  it('opens it alone where no request can be the cause, and what it may have caused does not help', () => {
    failAll(many, 'a');
    expect([fail(2), stateAt(0), fail(1), stateAt(0)]).toEqual([false, 'closed', true, 'open']);
  });

  it('counts among the accounts that fail by its own share, so that a busy one does not outweigh the others', () => {
    for (let call = 0; call < 100; call++) succeed(0, old, 'busy');
    failAll(['1', '2'], 'a');
    succeed(0, old, 'busy');
    expect([failAll(['1'], 'b'), stateAt(0)]).toEqual([true, 'open']);
  });

  it('does not fail by the odd request', () => {
    for (const account of ['a', 'b', 'c']) {
      for (let call = 0; call < 10; call++) succeed(0, old, account);
      failAll(['1'], account);
      succeed(0, old, account);
    }
    expect(stateAt(0)).toBe('closed');
  });
});

describe('the probe of a breaker that accounts have opened', () => {
  beforeEach(() => {
    failAll(['1', '2'], 'a');
    failAll(['1'], 'b');
  });

  it('is a request of another account', () => {
    expect([admits(1_000, 'a'), admits(1_000, 'b'), admits(1_000, 'c')]).toEqual([false, false, true]);
  });

  it('is one of theirs if no other has come for a cooldown', () => {
    expect([admits(1_999, 'a'), admits(2_000, 'a')]).toEqual([false, true]);
    expect(breaker.msUntilAdmission(0, 'a')).toBe(2_000);
    expect(breaker.msUntilAdmission(0, 'c')).toBe(1_000);
  });

  it('makes the pause no longer if it fails for one of them, since others may be served', () => {
    for (let now = 2_000; now < 20_000; now += 2_000) {
      expect(breaker.recordFailure(now, failure(`again ${now}`, 'a'), probeAt(now, 'a'))).toBe(true);
      expect([admits(now + 999, 'c'), breaker.msUntilAdmission(now, 'c')]).toEqual([false, 1_000]);
    }
    expect(breaker.getStatus(18_000).openings).toBe(1);
  });

  it('makes the pause longer if it fails for another account, which then counts as one of them', () => {
    expect(breaker.recordFailure(1_000, failure('c/1', 'c'), probeAt(1_000, 'c'))).toBe(true);
    expect([admits(3_000, 'c'), admits(3_000, 'd')]).toEqual([false, true]);
  });

  it('makes other requests wait for at most a cooldown, and decides when it ends', () => {
    const slow = probeAt(1_000, 'c');
    expect([admits(1_999, 'd'), admits(2_000, 'd'), admits(2_999, 'e')]).toEqual([false, true, false]);
    expect([succeed(60_000, slow, 'c'), stateAt(60_000)]).toEqual([true, 'closed']);
  });

  it('decides if it fails late, although other probes have begun', () => {
    const slow = probeAt(1_000, 'c');
    probeAt(2_000, 'd');
    expect([breaker.recordFailure(2_500, failure('c/1', 'c'), slow), stateAt(2_500)]).toEqual([true, 'open']);
  });

  it('decides despite an account that has opened the breaker and fails at the same time', () => {
    const slow = probeAt(1_000, 'c');
    breaker.recordFailure(2_001, failure('again', 'a'), probeAt(2_000, 'a'));
    expect([succeed(2_500, slow, 'c'), stateAt(2_500)]).toEqual([true, 'closed']);
  });

  it('disproves them by the answer to another account: for a window their failures do not count', () => {
    succeed(1_000, probeAt(1_000, 'c'), 'c');
    for (const account of ['a', 'b']) failAll(['3', '4', '5', '6', '7'], account, 1_001);
    expect(stateAt(1_001)).toBe('closed');
    for (const account of ['a', 'b']) failAll(['8', '9'], account, 61_001);
    expect(stateAt(61_001)).toBe('open');
  });

  it('does not clear the other accounts by the answer to one of them', () => {
    succeed(2_000, probeAt(2_000, 'a'), 'a');
    for (const account of ['a', 'b']) failAll(['3', '4'], account, 2_001);
    expect(stateAt(2_001)).toBe('open');
  });
});

describe('the state of another instance', () => {
  it('is adopted', () => {
    breaker.adopt({ state: 'open', opensFor: 2_000, reason: 'down there', openings: 2 }, 1_000);
    expect([admits(2_999), admits(3_000)]).toEqual([false, true]);
  });

  it('is adopted with no pause that is longer than its longest', () => {
    breaker.adopt({ state: 'open', opensFor: 86_400_000, reason: 'down there', openings: 2 }, 1_000);
    expect([admits(4_999), admits(5_000)]).toEqual([false, true]);
  });

  it('has the accounts that opened the breaker, those that wait, and those that do not count', () => {
    const other = new Breaker(options);
    failAll(['1', '2'], 'a');
    failAll(['1'], 'b');
    breaker.recordFailure(0, failure('w', 'waits', 5_000), old);
    other.adopt(breaker.getStatus(100), 0);
    expect([
      other.msUntilAdmission(0, 'a'),
      other.msUntilAdmission(0, 'c'),
      other.msUntilAdmission(0, 'waits'),
    ]).toEqual([1_800, 900, 4_900]);
    succeed(1_000, probeAt(1_000, 'c'), 'c');
    other.close();
    other.adoptAccounts(breaker.getStatus(1_000).accounts ?? [], 1_000);
    for (const account of ['a', 'b'])
      for (const name of ['3', '4', '5']) other.recordFailure(1_001, failure(`${account}/${name}`, account), old);
    expect([other.isClosed, other.msUntilAdmission(1_000, 'waits')]).toEqual([true, 4_000]);
  });

  it('has a bounded number of accounts', () => {
    for (let index = 0; index < 100; index++) breaker.recordFailure(0, failure(`w${index}`, `w${index}`, 5_000), old);
    expect(breaker.getStatus(0).accounts?.length).toBeLessThanOrEqual(32);
  });
});

describe('an upstream that says when it will serve again', () => {
  const wait = 30_000;
  const refuse = (now: number, account: string, by = old) =>
    breaker.recordFailure(now, { ...failure(undefined, account), retryAfterMs: wait }, by);

  it('is not asked before that time by the account that got the answer', () => {
    expect(refuse(0, 'a')).toBe(true);
    expect([admits(1_000, 'a'), admits(wait - 1, 'a')]).toEqual([false, false]);
    expect([admits(wait, 'a'), admits(wait, 'a')]).toEqual([true, false]);
  });

  it('is tried by another account after an ordinary cooldown, and serves all others if it serves that one', () => {
    refuse(0, 'a');
    expect([admits(999, 'b'), breaker.msUntilAdmission(0, 'b')]).toEqual([false, 1_000]);
    succeed(1_000, probeAt(1_000, 'b'), 'b');
    expect([admits(1_000, 'b'), admits(1_000, 'c'), admits(wait - 1, 'a')]).toEqual([true, true, false]);
  });

  it('is left alone by all others for no longer than it has asked', () => {
    breaker.recordFailure(0, failure('c', 'a', 200), old);
    expect([admits(199, 'b'), admits(200, 'a')]).toEqual([false, true]);
  });

  it('is left alone by the others no more for an account whose word another one has disproved', () => {
    refuse(0, 'a');
    succeed(1_000, probeAt(1_000, 'b'), 'b');
    expect(refuse(wait, 'a')).toBe(false);
    expect([admits(wait, 'b'), admits(wait, 'a')]).toEqual([true, false]);
  });

  it('is left alone for twice as long when it tells the next account the same', () => {
    refuse(0, 'a');
    refuse(1_000, 'b', probeAt(1_000, 'b'));
    expect([admits(2_999, 'c'), admits(3_000, 'c'), admits(30_999, 'b')]).toEqual([false, true, false]);
  });

  it('tells each conversation anew', () => {
    breaker.recordFailure(0, failure('x', 'a', wait), old);
    succeed(wait, probeAt(wait, 'a'), 'a');
    expect(breaker.recordFailure(wait + 1, failure('x', 'a', wait), old)).toBe(true);
    expect(admits(2 * wait, 'a')).toBe(false);
  });

  it('is reported once, however many requests in flight are refused as well', () => {
    expect([refuse(0, 'a'), refuse(10, 'a'), refuse(20, 'a')]).toEqual([true, false, false]);
    expect([admits(wait + 19, 'a'), admits(wait + 20, 'a')]).toEqual([false, true]);
  });

  it('is asked at once after an operator’s reset', () => {
    refuse(0, 'a');
    breaker.reset();
    expect(admits(0, 'a')).toBe(true);
  });
});
