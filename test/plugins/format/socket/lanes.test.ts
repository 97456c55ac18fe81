import { describe, expect, it, vi } from 'vitest';
import { AccountsOnline, endTurn, hasRoom } from '../../../../plugins/format/socket/account-turns.ts';
import { Lanes, type Slots } from '../../../../plugins/format/socket/lanes.ts';

const unlimited: Slots = {
  mayStart: () => true,
  hasRoom: () => true,
  whenRoom: () => undefined,
  taken: () => undefined,
  given: () => undefined,
};

/** Lanes, and the requests that have begun, each ended by hand. */
function setUp(slots: Slots = unlimited, limits = {}) {
  const lanes = new Lanes({ running: 16, waiting: 64, patience: 1_000, ...limits }, slots);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string, lane = name, takesSlot = true) =>
    lanes.add({
      lane,
      takesSlot,
      start: () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, resolve));
      },
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { lanes, begun, add, end };
}

/** The slots of an account with so many. */
function slotsOf(concurrent: number) {
  const account = new AccountsOnline().open('a');
  account.concurrent = concurrent;
  const slots: Slots = {
    mayStart: () => true,
    hasRoom: () => hasRoom(account),
    whenRoom: (look) => account.waiting.add(look),
    taken: () => account.running++,
    given: () => endTurn(account),
  };
  return { account, slots };
}

describe('the requests of a socket', () => {
  it('do not start while its client does not read', () => {
    let reads = false;
    const { begun, add, lanes } = setUp({ ...unlimited, mayStart: () => reads });
    add('a');
    expect(begun).toEqual([]);
    reads = true;
    lanes.look();
    expect(begun).toEqual(['a']);
  });

  it('run one after the other in a lane, and beside each other in several', async () => {
    const { begun, add, end, lanes } = setUp();
    add('a1', 'a');
    add('a2', 'a');
    add('b1', 'b');
    expect(begun).toEqual(['a1', 'b1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    await end('b1');
    expect(lanes.isIdle).toBe(false);
    await end('a2');
    expect(lanes.isIdle).toBe(true);
  });

  it('wait where as many run as may', async () => {
    const { begun, add, end } = setUp(unlimited, { running: 2 });
    for (const name of ['a', 'b', 'c', 'd']) add(name);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('are refused where as many wait as may', () => {
    const { add } = setUp(unlimited, { waiting: 2 });
    expect([add('a1', 'a'), add('a2', 'a'), add('a3', 'a'), add('a4', 'a')]).toEqual([true, true, true, false]);
  });

  it('wait for a slot of their account, which all of its sockets share', async () => {
    const { slots } = slotsOf(2);
    const one = setUp(slots);
    const other = setUp(slots);
    for (const name of ['a', 'b', 'c']) one.add(name);
    other.add('x');
    expect([one.begun, other.begun]).toEqual([['a', 'b'], []]);
    await one.end('a');
    expect([one.begun, other.begun]).toEqual([['a', 'b', 'c'], []]);
    await one.end('b');
    expect(other.begun).toEqual(['x']);
  });

  it('that take no slot do not wait for one', () => {
    const { slots } = slotsOf(1);
    const { add, begun } = setUp(slots);
    add('a');
    add('b');
    add('warm-up', 'w', false);
    expect(begun).toEqual(['a', 'warm-up']);
  });

  it('run without a slot when they have waited long enough, to be refused as others are', () => {
    vi.useFakeTimers();
    try {
      const { slots } = slotsOf(1);
      const { add, begun } = setUp(slots);
      add('a');
      add('b');
      vi.advanceTimersByTime(999);
      expect(begun).toEqual(['a']);
      vi.advanceTimersByTime(1);
      expect(begun).toEqual(['a', 'b']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('that wait never run once the client has left', async () => {
    const { lanes, add, begun, end } = setUp();
    add('a1', 'a');
    add('a2', 'a');
    lanes.close();
    await end('a1');
    expect(begun).toEqual(['a1']);
  });
});
