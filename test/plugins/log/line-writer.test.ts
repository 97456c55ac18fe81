import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
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

/** A pipe takes 64 KB and then nothing, as a disk does that becomes full within a write. */
class FullPipe {
  readonly writeEnd: number;
  /** Everything drained. */
  text = '';
  readonly #readEnd: number;

  constructor(folder: TemporaryFolder) {
    const path = join(folder.path, 'pipe');
    execFileSync('mkfifo', [path]);
    this.#readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.writeEnd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  }

  drain(): void {
    const bytes = Buffer.alloc(1024 * 1024);
    this.text += bytes.toString('latin1', 0, readSync(this.#readEnd, bytes));
  }

  close(): void {
    closeSync(this.writeEnd);
    closeSync(this.#readEnd);
  }
}

describe('line writer', () => {
  it.runIf(process.platform === 'linux')('keeps lines while the disk is full and writes them afterwards', () => {
    using folder = new TemporaryFolder();
    const failures: unknown[] = [];
    let recoveries = 0;
    const writer = new LineWriter(
      openSync('/dev/full', 'w'),
      (error) => failures.push(error),
      () => recoveries++,
    );
    const path = join(folder.path, 'lines');
    expect(writer.add('first')).toBe(true);
    expect(writer.flush()).toBe(false);
    expect(writer.add('second')).toBe(true);
    writer.switchTo(openSync(path, 'a'));
    expect(writer.flush()).toBe(false);
    expect(recoveries).toBe(0);
    vi.advanceTimersByTime(1_000);
    expect(writer.flush()).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('first\nsecond\n');
    expect(writer.add('third') && writer.flush()).toBe(true);
    expect([failures, recoveries]).toMatchObject([[{ code: 'ENOSPC' }], 1]);
  });

  it.runIf(process.platform === 'linux')('continues where the file took only the first part of its lines', () => {
    using folder = new TemporaryFolder();
    const pipe = new FullPipe(folder);
    const writer = new LineWriter(pipe.writeEnd, () => {});
    const lines = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
    for (const line of lines) writer.add(line);
    expect(writer.flush()).toBe(false);
    expect(writer.written).toBeGreaterThan(0);
    expect(writer.written + writer.waiting).toBe(lines.join('\n').length + 1);
    do {
      pipe.drain();
      vi.advanceTimersByTime(1_000);
    } while (!writer.flush());
    pipe.drain();
    expect(pipe.text.split('\n')).toEqual([...lines, '']);
    pipe.close();
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
