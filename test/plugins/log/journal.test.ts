import fs, { statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { ThreadedDisk } from '../../../plugins/log/disk/disk.ts';
import { arrive, identify, linesOf, MemoryStore, openLog, outcome, TemporaryFolder, until } from './fixture.ts';

test('the begin line of a request is on file before its reply is sent', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder, disk: new ThreadedDisk() });
  const exchange = arrive();
  log.journal.begin(exchange);
  await log.journal.whenWritten(exchange);
  expect(linesOf(folder)).toMatchObject([{ at: 'begin', id: exchange.id, started_at: exchange.receivedAt }]);
});

test('the lines of one turn are written together, after it', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder, segmentAgeMs: 60_000 });
  const exchange = arrive();
  log.journal.begin(exchange);
  await log.journal.whenWritten(exchange);
  const atBegin = folder.text().length;
  log.journal.enter(identify(exchange));
  log.journal.end(exchange, outcome());
  expect(folder.text().length).toBe(atBegin);
  await turn();
  expect(linesOf(folder).map(({ at }) => at)).toEqual(['begin', 'enter', 'end']);
});

test('with many requests in flight, begin lines are gathered for a millisecond, and replies wait for them', async () => {
  using folder = new TemporaryFolder();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await using log = openLog({ folder, segmentAgeMs: 60_000 });
    for (let index = 0; index < 8; index++) log.journal.begin(arrive());
    await turn();
    expect(linesOf(folder)).toHaveLength(8);
    const [first, second] = [arrive(), arrive()];
    log.journal.begin(first);
    await turn();
    log.journal.begin(second);
    const written = log.journal.whenWritten(first);
    await turn();
    expect(linesOf(folder)).toHaveLength(8);
    vi.advanceTimersByTime(1);
    await written;
    expect(
      linesOf(folder)
        .map(({ id }) => id)
        .slice(8),
    ).toEqual([first.id, second.id]);
  } finally {
    vi.useRealTimers();
  }
});

test('a reply that waits for gathered begin lines goes on when the journal closes', async () => {
  using folder = new TemporaryFolder();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const log = openLog({ folder, segmentAgeMs: 60_000 });
    for (let index = 0; index < 9; index++) log.journal.begin(arrive());
    await turn();
    const last = arrive();
    log.journal.begin(last);
    const written = log.journal.whenWritten(last);
    expect(written).toBeInstanceOf(Promise);
    await log[Symbol.asyncDispose]();
    await expect(written).resolves.toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

test('an end is written with the next begin, or some milliseconds later', async () => {
  using folder = new TemporaryFolder();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await using log = openLog({ folder, segmentAgeMs: 60_000 });
    const [first, second] = [arrive(), arrive()];
    log.journal.begin(first);
    await turn();
    log.journal.end(first, outcome());
    await turn();
    expect(linesOf(folder).map(({ at }) => at)).toEqual(['begin']);
    log.journal.begin(second);
    await turn();
    expect(linesOf(folder).map(({ at }) => at)).toEqual(['begin', 'end', 'begin']);
    log.journal.end(second, outcome());
    await turn();
    vi.advanceTimersByTime(5);
    expect(linesOf(folder).map(({ at }) => at)).toEqual(['begin', 'end', 'begin', 'end']);
  } finally {
    vi.useRealTimers();
  }
});

test('an end with bodies is written after its turn, before more of them need its room', async () => {
  using folder = new TemporaryFolder();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await using log = openLog({ folder, segmentAgeMs: 60_000 });
    const exchange = arrive();
    log.journal.begin(exchange);
    await turn();
    log.journal.end(exchange, outcome(), ['{"at":"body"}']);
    await turn();
    expect(linesOf(folder).map(({ at }) => at)).toEqual(['begin', 'end', 'body']);
  } finally {
    vi.useRealTimers();
  }
});

test('a request that passes every stage synchronously has one line', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder });
  const exchange = arrive();
  log.journal.begin(exchange);
  log.journal.enter(identify(exchange));
  await log.journal.whenWritten(exchange);
  expect(linesOf(folder)).toMatchObject([{ at: 'begin', id: exchange.id, model: 'gpt-6-sol' }]);
});

test('a request that spans segments begins in each and is recorded once', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const long = identify(arrive());
  {
    await using log = openLog({ folder, store });
    log.journal.begin(long);
    log.journal.enter(long);
    for (let round = 1; round <= 3; round++) {
      const short = arrive();
      log.journal.begin(short);
      log.journal.end(short, outcome());
      await until(() => store.records.size === round && log.journal.finished.count === 0);
      expect(linesOf(folder)).toMatchObject([{ at: 'begin', id: long.id, model: 'gpt-6-sol' }]);
    }
    log.journal.end(long, outcome());
  }
  expect(store.records.size).toBe(4);
  expect(store.records.get(long.id)).toMatchObject({ outcome: 'answered', model: 'gpt-6-sol' });
  expect(folder.journal()).toEqual([]);
});

test('size finishes a segment', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store, segmentBytes: 10_000, segmentAgeMs: 60_000 });
  for (let index = 0; index < 100; index++) {
    const exchange = arrive();
    log.journal.begin(exchange);
    await log.journal.whenWritten(exchange);
    log.journal.end(exchange, outcome());
    await turn();
  }
  expect(log.journal.finished.count).toBeGreaterThan(3);
  for (const name of folder.journal()) {
    expect(statSync(join(folder.path, 'journal', name)).size).toBeLessThan(11_000);
  }
  store.isAway = false;
  await until(() => store.records.size >= 80);
});

test('a full journal counts new requests, and records them again when it has room', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store, segmentBytes: 4_000 });
  log.journal.maxBytes = 20_000;
  for (let index = 0; index < 200; index++) {
    const exchange = arrive();
    log.journal.begin(exchange);
    await log.journal.whenWritten(exchange);
    log.journal.end(exchange, outcome());
  }
  const { total: lost } = log.journal.losses;
  expect(lost).toBeGreaterThan(100);
  expect(folder.text().length).toBeLessThan(25_000);
  expect(log.out.find((line) => line.includes('not recorded'))).toMatch(
    /^error 1 more requests not recorded, 1 in total: the journal is full/,
  );
  store.isAway = false;
  await until(() => store.records.size === 200 - lost);
  const late = arrive();
  log.journal.begin(late);
  log.journal.end(late, outcome());
  await until(() => store.records.has(late.id));
  expect(log.journal.losses.total).toBe(lost);
});

test('bodies that do not fit are counted, and logged when the journal ends', async () => {
  using folder = new TemporaryFolder();
  const out: string[] = [];
  const body = 'x'.repeat(bounds.journalLines);
  {
    await using log = openLog({ folder });
    const exchange = arrive();
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome(), [body, body, body]);
    await until(() => log.journal.finished.count === 0);
    await log.journal[Symbol.asyncDispose]();
    out.push(...log.out);
  }
  expect(out.filter((line) => line.includes('bodies'))).toEqual([
    'error 1 more bodies not recorded, 1 in total: the journal cannot be written',
    'error 2 more bodies not recorded, 3 in total: the journal cannot be written',
  ]);
});

test('the journal counts the records that wait, and for how long the oldest has', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store });
  expect([log.journal.waitingRecords, log.journal.oldestAgeMs]).toEqual([0, 0]);
  for (const finishes of [true, false]) {
    const exchange = arrive();
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome());
    if (finishes) expect(await log.journal.roll()).toBe(true);
  }
  expect(log.journal.waitingRecords).toBe(2);
  expect(log.journal.oldestAgeMs).toBeGreaterThan(0);
  store.isAway = false;
  await until(() => log.journal.waitingRecords === 0);
  expect(log.journal.oldestAgeMs).toBe(0);
});

test('records that the disk does not take go straight to the database', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  await using log = openLog({ folder, store });
  const exchange = arrive();
  log.journal.begin(exchange);
  await log.journal.whenWritten(exchange);
  using _disk = fullDisk();
  log.journal.end(exchange, outcome());
  await until(() => store.records.size === 1);
  expect(log.journal.trouble?.reason).toContain('ENOSPC');
  expect(log.journal.losses.total).toBe(0);
});

test('records that neither the disk nor the database takes at the end are counted', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const log = openLog({ folder, store, segmentAgeMs: 60_000 });
  store.isAway = true;
  const exchanges = [arrive(), arrive(), arrive()];
  for (const exchange of exchanges) log.journal.begin(exchange);
  await turn();
  using _disk = fullDisk();
  for (const exchange of exchanges) log.journal.end(exchange, outcome());
  await log[Symbol.asyncDispose]();
  expect(log.journal.losses.total).toBe(3);
  expect(log.out.at(-1)).toMatch(/^error 3 more requests not recorded, 3 in total: ENOSPC/);
});

test('a full disk that takes some lines now and then is reported once, and once when it has room again', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  await using log = openLog({ folder, store, checkIntervalMs: 10, recoveryMs: 2_500 });
  const lines = () => log.out.filter((line) => line.includes('the journal'));
  const failed = expect.stringContaining('the journal cannot be written');
  {
    using disk = fullDisk(20_000);
    // Every attempt to write to it comes a second after the last one.
    for (let attempts = disk.refused; disk.refused < attempts + 3;) {
      const exchange = arrive();
      log.journal.begin(exchange);
      log.journal.end(exchange, outcome());
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (disk.refused > 0) expect(log.journal.trouble?.reason).toContain('ENOSPC');
    }
    expect(lines()).toEqual([failed]);
  }
  await until(() => log.journal.trouble === undefined);
  expect(lines()).toEqual([failed, 'info the journal is written again']);
  expect(log.journal.losses.total).toBe(0);
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A disk with room for this many bytes in each file, until it is disposed. */
function fullDisk(room = 0): Disposable & { readonly refused: number } {
  const { writeSync } = fs;
  const write = (implementation: typeof writeSync) => {
    fs.writeSync = implementation;
    syncBuiltinESMExports();
  };
  const taken = new Map<number, number>();
  const disk = { refused: 0, [Symbol.dispose]: () => write(writeSync) };
  write(((file: number, bytes: Buffer, offset: number, length: number) => {
    const used = (taken.get(file) ?? 0) + length;
    taken.set(file, used);
    if (used <= room) return writeSync(file, bytes, offset, length);
    taken.delete(file);
    disk.refused++;
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  }) as typeof writeSync);
  return disk;
}
