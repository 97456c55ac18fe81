import { beforeEach, describe, expect, it } from 'vitest';
import { Breaker } from '../../../plugins/upstream/breaker.ts';

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
const fail = (times: number, now = 0, source?: string) =>
  Array.from({ length: times }, () => breaker.failed(now, 'down', source)).at(-1);
const stateAt = (now: number) => breaker.status(now).state;

describe('a closed breaker', () => {
  it('lets requests through', () => {
    expect(breaker.admit(0)).toBe(true);
  });

  it('opens at so many failures one after the other, and says so once', () => {
    expect([fail(2), fail(1), stateAt(0)]).toEqual([false, true, 'open']);
  });

  it('starts to count again after a success', () => {
    fail(2);
    breaker.succeeded(0);
    expect([fail(2), stateAt(0)]).toEqual([false, 'closed']);
  });

  it('opens at a share of failures in the window', () => {
    for (let call = 0; call < 5; call++) breaker.succeeded(call);
    for (let call = 0; call < 4; call++) {
      breaker.failed(100, 'down', undefined);
      breaker.succeeded(100);
    }
    fail(2, 100);
    expect(stateAt(100)).toBe('closed');
    for (let call = 0; call < 3; call++) {
      breaker.succeeded(100);
      fail(2, 100);
    }
    expect(stateAt(100)).toBe('open');
  });

  it('does not go by a share of few calls', () => {
    for (let call = 0; call < 4; call++) {
      fail(1);
      breaker.succeeded(0);
    }
    expect(stateAt(0)).toBe('closed');
  });

  it('forgets what lies behind the window', () => {
    for (let call = 0; call < 5; call++) {
      fail(1, 0);
      breaker.succeeded(0);
    }
    for (let call = 0; call < 8; call++) breaker.succeeded(70_000);
    expect([fail(2, 70_000), stateAt(70_000)]).toEqual([false, 'closed']);
  });

  it('is not opened by one conversation that fails again and again', () => {
    fail(50, 0, 'conversation');
    expect(stateAt(0)).toBe('closed');
  });

  it('is not opened by one conversation that fails while others are served', () => {
    for (let call = 0; call < 50; call++) {
      fail(1, call, 'conversation');
      breaker.succeeded(call);
    }
    expect(stateAt(50)).toBe('closed');
  });

  it('counts a conversation again once the window has passed', () => {
    for (const now of [0, 60_000, 120_000]) fail(1, now, 'conversation');
    expect(stateAt(120_000)).toBe('open');
  });

  it('is opened by several conversations that fail', () => {
    for (const source of ['a', 'b', 'c']) fail(1, 0, source);
    expect(stateAt(0)).toBe('open');
  });
});

describe('an open breaker', () => {
  beforeEach(() => {
    fail(3);
  });

  it('lets nothing through until the cooldown is over', () => {
    expect([breaker.admit(999), breaker.admit(1_000)]).toEqual([false, true]);
  });

  it('lets one probe through, not the herd', () => {
    expect([breaker.admit(1_000), breaker.admit(1_000), breaker.admit(1_001)]).toEqual([true, false, false]);
  });

  it('closes when the probe succeeds', () => {
    breaker.admit(1_000);
    expect([breaker.succeeded(1_100), stateAt(1_100), breaker.admit(1_100)]).toEqual([true, 'closed', true]);
  });

  it('opens again for twice as long when the probe fails, up to the longest pause', () => {
    const pauses = [];
    let now = 0;
    for (let probe = 0; probe < 4; probe++) {
      const { opensUntil } = breaker.status(now);
      pauses.push(opensUntil - now);
      now = opensUntil;
      breaker.admit(now);
      breaker.failed(now, 'still down', undefined);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 4_000]);
  });

  it('does not mind the failures of requests that were sent before it opened', () => {
    fail(10, 500);
    expect(breaker.status(500).opensUntil).toBe(1_000);
  });

  it('gives the probe to another when its client has left', () => {
    breaker.admit(1_000);
    breaker.released();
    expect(breaker.admit(1_001)).toBe(true);
  });

  it('gives the probe to another when nobody has reported on it', () => {
    breaker.admit(1_000);
    expect(breaker.admit(121_000)).toBe(true);
  });

  it('learns nothing from a probe by a conversation that has failed before', () => {
    breaker.reset();
    for (const source of ['a', 'b', 'c']) fail(1, 0, source);
    breaker.admit(1_000);
    fail(1, 1_000, 'a');
    expect([stateAt(1_000), breaker.admit(1_000)]).toEqual(['half_open', true]);
    fail(1, 1_000, 'd');
    expect(stateAt(1_001)).toBe('open');
  });

  it('is as good as new after a reset', () => {
    breaker.reset();
    expect([breaker.admit(0), fail(2)]).toEqual([true, false]);
  });
});

it('adopts what another instance has found out', () => {
  breaker.adopt({ state: 'open', opensUntil: 5_000, reason: 'down there', openings: 2 });
  expect([breaker.admit(4_999), breaker.admit(5_000)]).toEqual([false, true]);
});
