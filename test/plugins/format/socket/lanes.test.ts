import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Lanes } from '../../../../plugins/format/socket/lanes.ts';

/** Lanes, and the requests that have begun, each ended by hand. */
function setUp(limits = {}, mayStart = () => true) {
  let idle = 0;
  const all = { running: 16, waiting: 64, maxWaitMs: 15_000, ...limits };
  const lanes = new Lanes(
    all,
    mayStart,
    () => idle++,
    () => performance.now(),
  );
  const begun: string[] = [];
  const refused: string[] = [];
  /** Ms for which each has waited at the head of its lane. */
  const waits = new Map<string, number>();
  const ends = new Map<string, () => void>();
  const add = (name: string, lane = name, isCounted = true) =>
    lanes.add({
      lane,
      isLimited: isCounted,
      refuse: () => refused.push(name),
      release() {},
      start: (waited) => {
        waits.set(name, waited);
        begun.push(name);
        return new Promise((resolve) => ends.set(name, resolve));
      },
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { lanes, begun, refused, waits, add, end, idle: () => idle };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the requests of a socket', () => {
  it('do not start while its client does not read', () => {
    let reads = false;
    const { begun, add, lanes } = setUp({}, () => reads);
    add('a');
    expect(begun).toEqual([]);
    reads = true;
    lanes.startRequests();
    expect(begun).toEqual(['a']);
  });

  it('run one after the other in a lane, and in parallel in several lanes', async () => {
    const { begun, add, end, lanes, idle } = setUp();
    add('a1', 'a');
    add('a2', 'a');
    add('b1', 'b');
    expect(begun).toEqual(['a1', 'b1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    await end('b1');
    expect([lanes.isIdle, idle()]).toEqual([false, 0]);
    await end('a2');
    expect([lanes.isIdle, idle()]).toEqual([true, 1]);
  });

  it('wait where as many run as may', async () => {
    const { begun, add, end } = setUp({ running: 2 });
    for (const name of ['a', 'b', 'c', 'd']) add(name);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('are refused where as many wait as may', () => {
    const { add } = setUp({ waiting: 2 });
    expect([add('a1', 'a'), add('a2', 'a'), add('a3', 'a'), add('a4', 'a')]).toEqual([true, true, true, false]);
  });

  it('that call no upstream do not wait for others, except in their lane', async () => {
    const { add, begun, end } = setUp({ running: 1 });
    add('a1', 'a');
    add('b');
    add('warm-up', 'w', false);
    add('a2', 'a', false);
    expect(begun).toEqual(['a1', 'warm-up']);
    await end('a1');
    expect(begun).toEqual(['a1', 'warm-up', 'b', 'a2']);
  });

  it('that wait never run once the client has left', async () => {
    const { lanes, add, begun, end } = setUp();
    add('a1', 'a');
    add('a2', 'a');
    lanes.close();
    await end('a1');
    expect(begun).toEqual(['a1']);
  });

  it('that wait too long for others are refused, and the next one of their lane waits from then on', async () => {
    const { add, begun, refused, waits, end, lanes } = setUp({ running: 1 });
    add('a');
    await vi.advanceTimersByTimeAsync(5_000);
    add('b1', 'b');
    add('b2', 'b');
    add('c');
    await vi.advanceTimersByTimeAsync(14_999);
    expect(refused).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect([refused, begun]).toEqual([['b1', 'c'], ['a']]);
    await vi.advanceTimersByTimeAsync(4_000);
    await end('a');
    expect([begun, waits.get('b2'), lanes.isIdle]).toEqual([['a', 'b2'], 4_000, false]);
  });

  it('wait for their turn in a lane without a limit of time', async () => {
    const { add, begun, refused, waits, end } = setUp();
    add('a1', 'a');
    add('a2', 'a');
    await vi.advanceTimersByTimeAsync(600_000);
    await end('a1');
    expect([begun, refused, waits.get('a2')]).toEqual([['a1', 'a2'], [], 0]);
  });

  it('that may not wait are refused at once if the limit of running requests is reached', () => {
    const { add, begun, refused } = setUp({ running: 1, maxWaitMs: 0 });
    add('a');
    add('b');
    expect([begun, refused]).toEqual([['a'], ['b']]);
  });

  it('are not refused while their client does not read', async () => {
    let reads = true;
    const { add, begun, refused, end, lanes } = setUp({ running: 1 }, () => reads);
    add('a');
    add('b');
    reads = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(refused).toEqual([]);
    await end('a');
    reads = true;
    lanes.startRequests();
    expect([begun, refused]).toEqual([['a', 'b'], []]);
  });

  it('leave no timer behind when their client leaves', () => {
    const { add, lanes } = setUp({ running: 1 });
    add('a');
    add('b');
    expect(vi.getTimerCount()).toBe(1);
    lanes.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
