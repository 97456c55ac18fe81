import { beforeEach, describe, expect, it } from 'vitest';
import { Breaker, type Admission } from '../../../../plugins/upstream/health/breaker.ts';

const options = {
  failures: 3,
  failureRatio: 0.5,
  minimumCalls: 10,
  window: 60_000,
  cooldown: 1_000,
  longestCooldown: 4_000,
};

let breaker: Breaker;
beforeEach(() => {
  breaker = new Breaker(options);
});
/** What went before it opened, or while it was closed. */
const old: Admission = { isProbe: false };
const admits = (now: number) => breaker.admit(now) !== undefined;
const probeAt = (now: number): Admission => {
  const admission = breaker.admit(now);
  if (admission?.isProbe !== true) throw new Error('it is no probe');
  return admission;
};
const fail = (times: number, now = 0, source?: string) =>
  Array.from({ length: times }, () => breaker.failed(now, 'down', source, old)).at(-1);
const stateAt = (now: number) => breaker.status(now).state;

describe('a closed breaker', () => {
  it('a closed breaker lets requests pass', () => {
    expect(admits(0)).toBe(true);
  });

  it('a closed breaker opens at so many consecutive failures, and reports it once', () => {
    expect([fail(2), fail(1), stateAt(0)]).toEqual([false, true, 'open']);
  });

  it('a closed breaker starts counting again after a success', () => {
    fail(2);
    breaker.succeeded(0, old);
    expect([fail(2), stateAt(0)]).toEqual([false, 'closed']);
  });

  it('a closed breaker opens at a share of failures in the window', () => {
    for (let call = 0; call < 5; call++) breaker.succeeded(call, old);
    for (let call = 0; call < 4; call++) {
      breaker.failed(100, 'down', undefined, old);
      breaker.succeeded(100, old);
    }
    fail(2, 100);
    expect(stateAt(100)).toBe('closed');
    for (let call = 0; call < 3; call++) {
      breaker.succeeded(100, old);
      fail(2, 100);
    }
    expect(stateAt(100)).toBe('open');
  });

  it('a closed breaker ignores the share of few calls', () => {
    for (let call = 0; call < 4; call++) {
      fail(1);
      breaker.succeeded(0, old);
    }
    expect(stateAt(0)).toBe('closed');
  });

  it('a closed breaker forgets calls before the window', () => {
    for (let call = 0; call < 5; call++) {
      fail(1, 0);
      breaker.succeeded(0, old);
    }
    for (let call = 0; call < 8; call++) breaker.succeeded(70_000, old);
    expect([fail(2, 70_000), stateAt(70_000)]).toEqual([false, 'closed']);
  });

  it('a closed breaker is not opened by one conversation that fails again and again', () => {
    fail(50, 0, 'conversation');
    expect(stateAt(0)).toBe('closed');
  });

  it('a closed breaker is not opened by one conversation that fails while others are served', () => {
    for (let call = 0; call < 50; call++) {
      fail(1, call, 'conversation');
      breaker.succeeded(call, old);
    }
    expect(stateAt(50)).toBe('closed');
  });

  it('a closed breaker is not opened by one conversation, however long it waits before it fails again', () => {
    for (const now of [0, 60_000, 120_000, 180_000]) fail(1, now, 'conversation');
    expect(stateAt(180_000)).toBe('closed');
  });

  it('a closed breaker counts a conversation among the failures of each window', () => {
    for (let call = 0; call < 4; call++) {
      breaker.succeeded(60_000, old);
      fail(1, 60_000, `conversation ${call}`);
    }
    breaker.succeeded(120_000, old);
    for (let call = 0; call < 4; call++) {
      breaker.succeeded(120_000, old);
      fail(1, 120_000, `conversation ${call}`);
    }
    fail(1, 120_000, 'another');
    expect(stateAt(120_000)).toBe('open');
  });

  it('a closed breaker counts a conversation again once others have been served', () => {
    for (const now of [0, 60_000, 120_000]) fail(1, now, 'conversation');
    breaker.succeeded(180_000, old);
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
    expect([breaker.succeeded(1_100, probe), stateAt(1_100), admits(1_100)]).toEqual([true, 'closed', true]);
  });

  it('an open breaker opens again for twice as long when the probe fails, up to the longest pause', () => {
    const pauses = [];
    let now = 0;
    for (let probe = 0; probe < 4; probe++) {
      const { opensFor } = breaker.status(now);
      pauses.push(opensFor);
      now += opensFor;
      breaker.failed(now, 'still down', undefined, probeAt(now));
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 4_000]);
  });

  it('an open breaker ignores failures of requests that were sent before it opened', () => {
    fail(10, 500);
    expect(breaker.status(500).opensFor).toBe(500);
  });

  it('an open breaker gives the probe to another when its client has left', () => {
    breaker.released(probeAt(1_000));
    expect(admits(1_001)).toBe(true);
  });

  it('an open breaker gives the probe to another when nobody has reported on it', () => {
    probeAt(1_000);
    expect(admits(121_000)).toBe(true);
  });

  it('an open breaker learns nothing from a probe by a conversation that has failed before', () => {
    breaker.reset();
    for (const source of ['a', 'b', 'c']) fail(1, 0, source);
    breaker.failed(1_000, 'down', 'a', probeAt(1_000));
    expect(stateAt(1_000)).toBe('half_open');
    breaker.failed(1_000, 'down', 'd', probeAt(1_000));
    expect(stateAt(1_001)).toBe('open');
  });

  it('an open breaker is decided by its probe, not by a request that was sent before it opened', () => {
    const probe = probeAt(1_000);
    expect(breaker.failed(1_100, 'down', undefined, old)).toBe(false);
    expect(breaker.succeeded(1_100, old)).toBe(false);
    breaker.released(old);
    expect([stateAt(1_100), admits(1_100)]).toEqual(['half_open', false]);
    expect(breaker.succeeded(1_200, probe)).toBe(true);
  });

  it('an open breaker is not decided by a probe that was given up for another', () => {
    const first = probeAt(1_000);
    breaker.released(first);
    const second = probeAt(1_001);
    expect(breaker.failed(1_100, 'down', undefined, first)).toBe(false);
    breaker.released(first);
    expect([stateAt(1_100), admits(1_100)]).toEqual(['half_open', false]);
    expect(breaker.succeeded(1_200, second)).toBe(true);
  });

  it('an open breaker is decided by a probe that retries, for example with another key', () => {
    const probe = probeAt(1_000);
    breaker.released(probe);
    expect(breaker.succeeded(1_100, probe)).toBe(true);
  });

  it('an open breaker forgets everything at a reset', () => {
    breaker.reset();
    expect([admits(0), fail(2)]).toEqual([true, false]);
  });
});

it('adopts the state of another instance', () => {
  breaker.adopt({ state: 'open', opensFor: 2_000, reason: 'down there', openings: 2 }, 1_000);
  expect([admits(2_999), admits(3_000)]).toEqual([false, true]);
});

it('adopts no pause of another instance that is longer than its longest', () => {
  breaker.adopt({ state: 'open', opensFor: 86_400_000, reason: 'down there', openings: 2 }, 1_000);
  expect([admits(4_999), admits(5_000)]).toEqual([false, true]);
});

describe('an upstream that says when it will serve again', () => {
  const wait = 30_000;
  const refuse = (now: number, by = old, source?: string) => breaker.failed(now, 'busy', source, by, wait);

  it('an upstream is not asked before its Retry-After has passed, and one request then tries it', () => {
    expect(refuse(0)).toBe(true);
    expect([admits(0), admits(wait - 1)]).toEqual([false, false]);
    expect([admits(wait), admits(wait)]).toEqual([true, false]);
  });

  it('a Retry-After counts in each response of one conversation', () => {
    refuse(0, old, 'a');
    breaker.succeeded(wait, probeAt(wait));
    expect(refuse(wait + 1, old, 'a')).toBe(true);
    expect(admits(2 * wait)).toBe(false);
  });

  it('a route is left out for the longer of Retry-After and cooldown', () => {
    fail(3);
    expect(breaker.failed(options.cooldown, 'busy', undefined, probeAt(options.cooldown), 1)).toBe(true);
    expect([admits(2 * options.cooldown), admits(3 * options.cooldown)]).toEqual([false, true]);
  });

  it('a Retry-After is reported once, however many requests in flight are refused as well', () => {
    expect([refuse(0), refuse(10), refuse(20)]).toEqual([true, false, false]);
    expect([admits(wait + 19), admits(wait + 20)]).toEqual([false, true]);
  });

  it('a Retry-After applies on other instances as well', () => {
    breaker.failed(0, 'busy', undefined, old, 3_000);
    const other = new Breaker(options);
    other.adopt(breaker.status(1_000), 5_000);
    expect([other.admit(6_999), other.admit(7_000)]).toEqual([undefined, { isProbe: true }]);
  });
});
