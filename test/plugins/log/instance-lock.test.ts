import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InstanceLock, InstanceWatch, type LockEvents } from '../../../plugins/log/instance-lock.ts';
import { MemoryLog, TemporaryFolder } from './fixture.ts';
import { InlineDisk } from './inline-disk.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const silent = { prepareFolder: async () => undefined, onRetaken: () => undefined, onRetakeFailure: () => undefined };
const disk = new InlineDisk();

function take(folder: string, events: LockEvents = silent): InstanceLock {
  return new InstanceLock({ disk, folder, instance: 'here', log: new MemoryLog(), events });
}

describe('instance lock', () => {
  it('keeps an instance alive until it is released', async () => {
    using folder = new TemporaryFolder();
    const watch = new InstanceWatch(disk, folder.path);
    {
      await using _ = take(folder.path);
      expect(await watch.isDead('here')).toBe(false);
    }
    expect(await watch.isDead('here')).toBe(true);
  });

  it('is taken again and reported as lost when another instance has removed it', async () => {
    using folder = new TemporaryFolder();
    const lost = vi.fn<(wasPaused: boolean) => void>();
    await using _ = take(folder.path, { ...silent, onRetaken: lost });
    const watch = new InstanceWatch(disk, folder.path);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(lost).not.toHaveBeenCalled();
    await watch.removeLock('here');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(lost).toHaveBeenCalledOnce();
    expect(await watch.isDead('here')).toBe(false);
  });

  it('is reported as taken over only after a pause in which it was not touched', async () => {
    using folder = new TemporaryFolder();
    const lost = vi.fn<(wasPaused: boolean) => void>();
    await using lock = take(folder.path, { ...silent, onRetaken: lost });
    const watch = new InstanceWatch(disk, folder.path);
    await watch.removeLock('here');
    await vi.advanceTimersByTimeAsync(5_000);
    await watch.removeLock('here');
    const resumedAt = performance.now() + 31_000;
    vi.spyOn(performance, 'now').mockReturnValue(resumedAt);
    await lock.touch();
    vi.restoreAllMocks();
    expect(lost.mock.calls).toEqual([[false], [true]]);
  });

  it('that is gone and cannot be written is reported once, and taken again when that is possible', async () => {
    using folder = new TemporaryFolder();
    const path = join(folder.path, 'journal');
    mkdirSync(path);
    const [onRetaken, onRetakeFailure] = [vi.fn<(wasPaused: boolean) => void>(), vi.fn<(error: unknown) => void>()];
    await using _ = take(path, { ...silent, onRetaken, onRetakeFailure });
    rmSync(path, { recursive: true });
    await vi.advanceTimersByTimeAsync(15_000);
    expect([onRetakeFailure.mock.calls.length, onRetaken.mock.calls.length]).toEqual([1, 0]);
    mkdirSync(path);
    await vi.advanceTimersByTimeAsync(5_000);
    expect([onRetakeFailure.mock.calls.length, onRetaken.mock.calls.length]).toEqual([1, 1]);
    expect(await new InstanceWatch(disk, path).isDead('here')).toBe(false);
  });

  it('is stale when its process no longer exists or only had the same pid', async () => {
    using folder = new TemporaryFolder();
    await using _ = take(folder.path);
    const own = JSON.parse(readFileSync(join(folder.path, 'here.lock'), 'utf8')) as object;
    const write = (name: string, changes: object) =>
      writeFileSync(join(folder.path, `${name}.lock`), JSON.stringify({ ...own, ...changes }));
    write('gone', { pid: 2 ** 22 + 1 });
    write('namesake', { startedAt: 1 });
    const watch = new InstanceWatch(disk, folder.path);
    expect(await watch.isDead('gone')).toBe(true);
    expect(await watch.isDead('namesake')).toBe(true);
  });

  it('of a process on another machine is stale when it is not touched for thirty seconds', async () => {
    using folder = new TemporaryFolder();
    const path = join(folder.path, 'far.lock');
    writeFileSync(path, JSON.stringify({ pid: 1, startedAt: 1, pidSpace: 'elsewhere' }));
    const watch = new InstanceWatch(disk, folder.path);
    const touch = (second: number) => utimesSync(path, second, second);
    for (let second = 0; second < 60; second += 10) {
      touch(second);
      expect(await watch.isDead('far')).toBe(false);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(await watch.isDead('far')).toBe(false);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await watch.isDead('far')).toBe(true);
  });
});
