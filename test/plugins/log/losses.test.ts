import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Losses } from '../../../plugins/log/losses.ts';
import { MemoryLog } from './fixture.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('losses', () => {
  it('are logged at once, and then together every ten seconds', () => {
    const log = new MemoryLog();
    using losses = new Losses(log, 'requests not recorded');
    for (let index = 0; index < 5; index++) losses.add('no room');
    expect(log.lines).toEqual(['error 1 more requests not recorded, 1 in total: no room']);
    vi.advanceTimersByTime(10_000);
    expect(log.lines[1]).toBe('error 4 more requests not recorded, 5 in total: no room');
    vi.advanceTimersByTime(60_000);
    expect(log.lines).toHaveLength(2);
  });

  it('are logged when it ends, with no timer left', () => {
    const log = new MemoryLog();
    const losses = new Losses(log, 'requests not recorded');
    for (let index = 0; index < 3; index++) losses.add('no room');
    losses[Symbol.dispose]();
    expect(log.lines[1]).toBe('error 2 more requests not recorded, 3 in total: no room');
    expect(vi.getTimerCount()).toBe(0);
  });
});
