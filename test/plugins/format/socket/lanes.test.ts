import { describe, expect, it } from 'vitest';
import { Lanes } from '../../../../plugins/format/socket/lanes.ts';

/** Lanes, and the requests that have begun, each ended by hand. */
function setUp(limits = {}, mayStart = () => true) {
  let idle = 0;
  const lanes = new Lanes({ running: 16, waiting: 64, ...limits }, mayStart, () => idle++);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (name: string, lane = name, isCounted = true) =>
    lanes.add({
      lane,
      isCounted,
      start: () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, resolve));
      },
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { lanes, begun, add, end, idle: () => idle };
}

describe('the requests of a socket', () => {
  it('do not start while its client does not read', () => {
    let reads = false;
    const { begun, add, lanes } = setUp({}, () => reads);
    add('a');
    expect(begun).toEqual([]);
    reads = true;
    lanes.look();
    expect(begun).toEqual(['a']);
  });

  it('run one after the other in a lane, and beside each other in several', async () => {
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
});
