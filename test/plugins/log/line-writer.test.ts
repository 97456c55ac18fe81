import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LineWriter } from '../../../plugins/log/line-writer.ts';
import { TemporaryFolder } from './fixture.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('line writer', () => {
  it.runIf(process.platform === 'linux')('keeps lines while the disk is full and writes them afterwards', () => {
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

  it.runIf(process.platform === 'linux')('refuses lines when its buffer is full', () => {
    const writer = new LineWriter(openSync('/dev/full', 'w'), () => {});
    const line = 'x'.repeat(1023);
    let taken = 0;
    while (writer.add(line)) taken++;
    expect(taken).toBe(256);
    expect(writer.waiting).toBe(256 * 1024);
  });
});
