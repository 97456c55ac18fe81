import { openSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InstanceLock, Watch } from '../../../plugins/log/instance-lock.ts';
import { LineWriter } from '../../../plugins/log/line-writer.ts';
import { Losses } from '../../../plugins/log/losses.ts';
import { MemoryLog, TemporaryFolder } from './fixture.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('line writer', () => {
  it.runIf(process.platform === 'linux')('keeps lines while the disk is full, and writes them when it is not', () => {
    using folder = new TemporaryFolder();
    const failures: unknown[] = [];
    const writer = new LineWriter(openSync('/dev/full', 'w'), (error) => failures.push(error));
    const path = join(folder.path, 'lines');
    expect(writer.add('first')).toBe(true);
    expect(writer.flush()).toBe(false);
    expect(writer.add('second')).toBe(true);
    writer.switchTo(openSync(path, 'a'));
    expect(writer.flush()).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(writer.flush()).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('first\nsecond\n');
    expect(failures).toMatchObject([{ code: 'ENOSPC' }]);
  });

  it.runIf(process.platform === 'linux')('refuses lines when its buffer is full too', () => {
    const writer = new LineWriter(openSync('/dev/full', 'w'), () => {});
    const line = 'x'.repeat(1023);
    let taken = 0;
    while (writer.add(line)) taken++;
    expect(taken).toBe(256);
    expect(writer.waiting).toBe(256 * 1024);
  });
});

describe('instance lock', () => {
  it('keeps an instance alive until it is released', () => {
    using folder = new TemporaryFolder();
    const watch = new Watch(folder.path);
    {
      using _ = new InstanceLock(folder.path, 'here', () => {});
      expect(watch.isDead('here')).toBe(false);
    }
    expect(watch.isDead('here')).toBe(true);
  });

  it('is taken again, and said to be lost, when another instance has removed it', () => {
    using folder = new TemporaryFolder();
    const lost = vi.fn<() => void>();
    using _ = new InstanceLock(folder.path, 'here', lost);
    const watch = new Watch(folder.path);
    vi.advanceTimersByTime(5_000);
    expect(lost).not.toHaveBeenCalled();
    watch.bury('here');
    vi.advanceTimersByTime(5_000);
    expect(lost).toHaveBeenCalledOnce();
    expect(watch.isDead('here')).toBe(false);
  });

  it('of a process that is gone, or had our number before us, counts no more', () => {
    using folder = new TemporaryFolder();
    using _ = new InstanceLock(folder.path, 'here', () => {});
    const own = JSON.parse(readFileSync(join(folder.path, 'here.lock'), 'utf8')) as object;
    const write = (name: string, changes: object) =>
      writeFileSync(join(folder.path, `${name}.lock`), JSON.stringify({ ...own, ...changes }));
    write('gone', { pid: 2 ** 22 + 1 });
    write('namesake', { startedAt: 1 });
    const watch = new Watch(folder.path);
    expect(watch.isDead('gone')).toBe(true);
    expect(watch.isDead('namesake')).toBe(true);
  });

  it('of a process that nobody here can see counts until it is not touched for thirty seconds', () => {
    using folder = new TemporaryFolder();
    const path = join(folder.path, 'far.lock');
    writeFileSync(path, JSON.stringify({ pid: 1, startedAt: 1, pidSpace: 'elsewhere' }));
    const watch = new Watch(folder.path);
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

describe('losses', () => {
  it('are reported at once, and then together', () => {
    const log = new MemoryLog();
    using losses = new Losses(log, 'requests without a record');
    for (let index = 0; index < 5; index++) losses.add('no room');
    expect(log.lines).toEqual(['error 1 more requests without a record, 1 in all: no room']);
    vi.advanceTimersByTime(10_000);
    expect(log.lines[1]).toBe('error 4 more requests without a record, 5 in all: no room');
    vi.advanceTimersByTime(60_000);
    expect(log.lines).toHaveLength(2);
  });
});
