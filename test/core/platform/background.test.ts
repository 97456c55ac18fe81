import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { backgroundGauge } from '#core/gateway/health/process-checks.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { guardListener, runInBackground, noteFailure } from '#core/platform/background.ts';
import { createLogger } from '#core/platform/logger.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function openLog() {
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line));
  const counts = async () => Array.from(await backgroundGauge.read({ log } as Host), ({ value }) => value);
  return { log, lines, counts };
}

it.each([
  ['throws', () => fail()],
  ['rejects', async () => fail()],
])('work that %s is logged with its request, and counted', async (_, work) => {
  const { log, lines, counts } = openLog();
  runInBackground(log, 'the work', work, 'req_1');
  await Promise.resolve();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('request req_1: the work failed: Error: no');
  expect(await counts()).toEqual([1]);
});

it('failures of the same work are logged once a minute, with the number in between', () => {
  const { log, lines } = openLog();
  for (let count = 0; count < 5; count++) noteFailure(log, 'the work', new Error('no'));
  noteFailure(log, 'other work', new Error('no'));
  vi.advanceTimersByTime(60_000);
  noteFailure(log, 'the work', new Error('no'));
  expect(lines).toHaveLength(3);
  expect(lines[2]).toContain('the work failed (4 more times since the last line)');
});

it('a guarded listener gets its values and throws nothing', () => {
  const { log, lines } = openLog();
  const heard: number[] = [];
  const listener = guardListener(log, 'a listener', (value: number) => {
    heard.push(value);
    fail();
  });
  listener(1);
  listener(2);
  expect(heard).toEqual([1, 2]);
  expect(lines).toHaveLength(1);
});

it('a thrown value that has no text ends nothing', () => {
  const { log, lines } = openLog();
  noteFailure(log, 'the work', Object.create(null));
  expect(lines[0]).toContain('the work failed: a thrown object that cannot be converted to text');
});

function fail(): never {
  throw new Error('no');
}
