import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InstanceLock, InstanceWatch } from '../../../plugins/log/instance-lock.ts';
import { TemporaryFolder } from './fixture.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const silent = { prepare: () => undefined, onLost: () => undefined, onFailure: () => undefined };

describe('instance lock', () => {
  it('keeps an instance alive until it is released', () => {
    using folder = new TemporaryFolder();
    const watch = new InstanceWatch(folder.path);
    {
      using _ = new InstanceLock(folder.path, 'here', silent);
      expect(watch.isDead('here')).toBe(false);
    }
    expect(watch.isDead('here')).toBe(true);
  });

  it('is taken again and reported as lost when another instance has removed it', () => {
    using folder = new TemporaryFolder();
    const lost = vi.fn<(wasPaused: boolean) => void>();
    using _ = new InstanceLock(folder.path, 'here', { ...silent, onLost: lost });
    const watch = new InstanceWatch(folder.path);
    vi.advanceTimersByTime(5_000);
    expect(lost).not.toHaveBeenCalled();
    watch.forget('here');
    vi.advanceTimersByTime(5_000);
    expect(lost).toHaveBeenCalledOnce();
    expect(watch.isDead('here')).toBe(false);
  });

  it('is reported as taken over only after a pause in which it was not touched', () => {
    using folder = new TemporaryFolder();
    const lost = vi.fn<(wasPaused: boolean) => void>();
    using lock = new InstanceLock(folder.path, 'here', { ...silent, onLost: lost });
    const watch = new InstanceWatch(folder.path);
    watch.forget('here');
    vi.advanceTimersByTime(5_000);
    watch.forget('here');
    const resumedAt = performance.now() + 31_000;
    vi.spyOn(performance, 'now').mockReturnValue(resumedAt);
    lock.keep();
    vi.restoreAllMocks();
    expect(lost.mock.calls).toEqual([[false], [true]]);
  });

  it('that is gone and cannot be written is reported once, and taken again when that is possible', () => {
    using folder = new TemporaryFolder();
    const path = join(folder.path, 'journal');
    mkdirSync(path);
    const [onLost, onFailure] = [vi.fn<(wasPaused: boolean) => void>(), vi.fn<(error: unknown) => void>()];
    using _ = new InstanceLock(path, 'here', { ...silent, onLost, onFailure });
    rmSync(path, { recursive: true });
    vi.advanceTimersByTime(15_000);
    expect([onFailure.mock.calls.length, onLost.mock.calls.length]).toEqual([1, 0]);
    mkdirSync(path);
    vi.advanceTimersByTime(5_000);
    expect([onFailure.mock.calls.length, onLost.mock.calls.length]).toEqual([1, 1]);
    expect(new InstanceWatch(path).isDead('here')).toBe(false);
  });

  it('is stale when its process no longer exists or only had the same pid', () => {
    using folder = new TemporaryFolder();
    using _ = new InstanceLock(folder.path, 'here', silent);
    const own = JSON.parse(readFileSync(join(folder.path, 'here.lock'), 'utf8')) as object;
    const write = (name: string, changes: object) =>
      writeFileSync(join(folder.path, `${name}.lock`), JSON.stringify({ ...own, ...changes }));
    write('gone', { pid: 2 ** 22 + 1 });
    write('namesake', { startedAt: 1 });
    const watch = new InstanceWatch(folder.path);
    expect(watch.isDead('gone')).toBe(true);
    expect(watch.isDead('namesake')).toBe(true);
  });

  it('of a process on another machine is stale when it is not touched for thirty seconds', () => {
    using folder = new TemporaryFolder();
    const path = join(folder.path, 'far.lock');
    writeFileSync(path, JSON.stringify({ pid: 1, startedAt: 1, pidSpace: 'elsewhere' }));
    const watch = new InstanceWatch(folder.path);
    const touch = (second: number) => utimesSync(path, second, second);
    for (let second = 0; second < 60; second += 10) {
      touch(second);
      expect(watch.isDead('far')).toBe(false);
      vi.advanceTimersByTime(10_000);
    }
    expect(watch.isDead('far')).toBe(false);
    vi.advanceTimersByTime(30_000);
    expect(watch.isDead('far')).toBe(true);
  });
});
