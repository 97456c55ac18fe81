import { expect, test } from 'vitest';
import type { UnauthenticatedCount } from '#core/gateway/records/unauthenticated.ts';
import { bounds } from '#core/platform/bounds.ts';
import { UnauthenticatedCounts } from '../../../plugins/log/unauthenticated-counts.ts';
import { MemoryLog } from './fixture.ts';

const minute = 60_000;
const begin = 29_000_000 * minute;

/** Counts with a clock of their own, and a database that can be away. */
function openCounts() {
  const opened = {
    now: begin + 1_000,
    isAway: false,
    stored: [] as UnauthenticatedCount[],
    log: new MemoryLog(),
    counts: undefined as unknown as UnauthenticatedCounts,
  };
  const add = async (counts: readonly UnauthenticatedCount[]) => {
    if (opened.isAway) throw new Error('connect ECONNREFUSED');
    opened.stored.push(...counts);
  };
  opened.counts = new UnauthenticatedCounts({ add, log: opened.log, now: () => opened.now });
  return opened;
}

const sumOf = (counts: readonly UnauthenticatedCount[]) => counts.reduce((sum, { requests }) => sum + requests, 0);

test('requests are counted by minute, block and status, and stored when their minute is over', async () => {
  const clock = openCounts();
  for (const [address, status] of [
    ['203.0.113.7', 401],
    ['203.0.113.250', 401],
    ['203.0.113.7', 429],
    ['2001:db8:1:2::9', 401],
    ['2001:0db8:1:2:ffff::1', 401],
    ['::ffff:198.51.100.4', 426],
    [undefined, undefined],
  ] as const)
    clock.counts.count(address, status);
  clock.counts.store();
  expect(clock.stored).toEqual([]);
  clock.now += minute;
  clock.counts.count('203.0.113.7', 401);
  clock.counts.store();
  await Promise.resolve();
  expect(clock.stored.map(({ minute: at, block, status, requests }) => [at - begin, block, status, requests])).toEqual([
    [0, '203.0.113.0/24', 401, 2],
    [0, '2001:db8:1:2::/64', 401, 2],
    [0, '203.0.113.0/24', 429, 1],
    [0, '198.51.100.0/24', 426, 1],
    [0, undefined, undefined, 1],
  ]);
  await clock.counts.finish(1_000);
  expect(clock.stored.at(-1)).toEqual({ minute: begin + minute, block: '203.0.113.0/24', status: 401, requests: 1 });
  expect(clock.log.lines).toEqual([]);
});

test('the first few requests of a block and status are recorded, and few of all blocks together', () => {
  const { perKind: alike, total: all } = bounds.unauthenticatedRecords;
  const clock = openCounts();
  const recorded = (address: string, status: number, times: number) =>
    Array.from({ length: times }, () => clock.counts.count(address, status)).filter(Boolean).length;
  expect(recorded('203.0.113.7', 401, 1_000)).toBe(alike);
  expect(recorded('203.0.113.7', 429, 1_000)).toBe(alike);
  const others = Array.from({ length: 200 }, (_, index) => recorded(`10.0.${index}.1`, 401, 10));
  expect(others.reduce((sum, count) => sum + count, 0)).toBe(all - 2 * alike);
  clock.now += minute;
  expect(recorded('203.0.113.7', 401, 10)).toBe(alike);
});

test('a minute with many blocks stores the largest alone and loses no request', async () => {
  const clock = openCounts();
  const blocks = 3 * bounds.unauthenticatedBlocks;
  for (let index = 0; index < blocks; index++) clock.counts.count(`10.${index >> 8}.${index & 255}.1`, 401);
  for (let times = 0; times < 30; times++) clock.counts.count('10.0.200.9', 401);
  await clock.counts.finish(1_000);
  expect(clock.stored.length).toBe(bounds.unauthenticatedCounts);
  expect(clock.stored.find(({ block }) => block === '10.0.200.0/24')?.requests).toBe(31);
  expect(sumOf(clock.stored)).toBe(blocks + 30);
});

test('counts wait while the database is away, within a bound, and a stop says how many are missing', async () => {
  const clock = openCounts();
  clock.isAway = true;
  const minutes = bounds.waitingCounts + 7;
  for (let index = 0; index < minutes; index++) {
    clock.counts.count('203.0.113.7', 401);
    clock.now += minute;
  }
  clock.counts.store();
  await new Promise((resolve) => setImmediate(resolve));
  expect(clock.log.lines).toEqual([
    'warn counts of requests without an account wait for the database: connect ECONNREFUSED',
  ]);
  clock.isAway = false;
  await clock.counts.finish(1_000);
  expect(clock.stored).toHaveLength(bounds.waitingCounts);
  expect(clock.stored.at(-1)?.minute).toBe(begin + (minutes - 1) * minute);
  expect(clock.log.lines[1]).toBe(`warn 7 requests without an account are missing from the counts`);
});

test('a clock that is set back counts further in the minute that it shows', async () => {
  const clock = openCounts();
  clock.counts.count('203.0.113.7', 401);
  clock.now += minute;
  clock.counts.count('203.0.113.7', 401);
  clock.now -= minute;
  clock.counts.count('203.0.113.7', 401);
  await clock.counts.finish(1_000);
  expect(clock.stored.map(({ minute: at }) => (at - begin) / minute)).toEqual([0, 1, 0]);
});
