import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { unauthenticated } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import { arrive, identify, MemoryStore, openLog, outcome, TemporaryFolder, until } from './fixture.ts';
import { InlineDisk } from './inline-disk.ts';

/** Leaves what a killed instance leaves: its segment with these requests in flight. */
async function killWhileRunning(folder: TemporaryFolder, running: readonly Exchange[]): Promise<void> {
  using elsewhere = new TemporaryFolder();
  await using dead = openLog({ folder: elsewhere, instance: 'dead', segmentAgeMs: 60_000 });
  for (const exchange of running) dead.journal.begin(exchange);
  await until(() => elsewhere.text() !== '');
  mkdirSync(join(folder.path, 'journal'));
  for (const name of elsewhere.journal()) {
    copyFileSync(join(elsewhere.path, 'journal', name), join(folder.path, 'journal', name));
  }
}

test('records wait in few files while the database is unavailable, and are shipped afterwards', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store, segmentAgeMs: 1 });
  for (let index = 0; index < 200; index++) {
    const exchange = arrive();
    log.journal.begin(exchange);
    await log.journal.whenWritten(exchange);
    log.journal.end(exchange, outcome());
    if (index % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 3));
  }
  await until(() => store.inserts > 1);
  expect(folder.journal().length).toBeLessThanOrEqual(3);
  expect(store.records.size).toBe(0);
  store.isAway = false;
  await until(() => store.records.size === 200);
  expect(log.out.filter((line) => line.startsWith('warn'))).toHaveLength(1);
  await until(() => log.out.some((line) => line.includes('written to the database again')));
});

test('a request that is counted without a record is not found interrupted after a kill', async () => {
  using folder = new TemporaryFolder();
  using elsewhere = new TemporaryFolder();
  await using dead = openLog({ folder: elsewhere, instance: 'dead', segmentAgeMs: 60_000 });
  const [known, stranger, keyless] = [identify(arrive()), arrive(), arrive()];
  for (const exchange of [known, stranger]) dead.journal.begin(exchange);
  dead.journal.begin(keyless);
  keyless.set(unauthenticated, true);
  await until(() => elsewhere.text() !== '');
  expect(elsewhere.text()).toContain(stranger.id);
  for (const exchange of [stranger, keyless]) dead.journal.skip(exchange);
  await until(() => elsewhere.text().includes('"at":"skip"'));
  // It has never taken a place in the journal.
  expect(elsewhere.text()).not.toContain(keyless.id);
  mkdirSync(join(folder.path, 'journal'));
  for (const name of elsewhere.journal())
    copyFileSync(join(elsewhere.path, 'journal', name), join(folder.path, 'journal', name));
  const store = new MemoryStore();
  await using log = openLog({ folder, store });
  await until(() => log.out.some((line) => line.includes('all records of dead instance')));
  expect([...store.records.keys()]).toEqual([known.id]);
  expect(existsSync(join(folder.path, 'journal', 'rejected'))).toBe(false);
});

test('lines that are no records take no place in a statement', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  await using log = openLog({ folder, store, segmentAgeMs: 60_000 });
  for (let index = 0; index < 300; index++) {
    const exchange = arrive();
    log.journal.begin(exchange);
    await log.journal.whenWritten(exchange);
    log.journal.end(exchange, outcome());
  }
  await log.journal.roll();
  await until(() => store.records.size === 300);
  expect(store.inserts).toBe(1);
});

test('a malformed line is moved aside and the others are shipped', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.refused = 'poison';
  await using log = openLog({ folder, store });
  for (const agent of ['a', 'b', 'poison', 'c', 'd']) {
    const exchange = arrive({ headers: { 'user-agent': agent } });
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome());
  }
  await until(() => log.out.some((line) => line.includes('was moved to')));
  await until(() => log.journal.finished.count === 0);
  expect(store.pluck('user_agent')).toEqual(['a', 'b', 'c', 'd']);
  const rejected = readFileSync(join(folder.path, 'journal', 'rejected', 'test-00000001.ndjson'), 'utf8');
  expect(JSON.parse(rejected)).toMatchObject({ at: 'end', user_agent: 'poison' });
});

test('a malformed line that cannot be moved aside is counted as lost', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.refused = 'poison';
  mkdirSync(join(folder.path, 'journal'));
  writeFileSync(join(folder.path, 'journal', 'rejected'), 'in the way');
  await using log = openLog({ folder, store });
  const exchange = arrive({ headers: { 'user-agent': 'poison' } });
  log.journal.begin(exchange);
  log.journal.end(exchange, outcome());
  await until(() => log.journal.losses.total === 1);
});

test('segments of a dead instance are shipped, its requests in flight are interrupted, a truncated line is left out', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const ended = identify(arrive());
  const running = identify(arrive());
  const carried = identify(arrive());
  const cut = arrive();
  const left = new TemporaryFolder();
  {
    // Written by a journal whose shipper never gets through, then copied to where it counts.
    store.isAway = true;
    await using dead = openLog({ folder: left, store, instance: 'dead', segmentAgeMs: 60_000 });
    for (const exchange of [carried, ended]) dead.journal.begin(exchange);
    dead.journal.enter(carried);
    await dead.journal.roll();
    for (const exchange of [running, cut]) dead.journal.begin(exchange);
    dead.journal.enter(running);
    dead.journal.end(ended, outcome());
    await new Promise((resolve) => setImmediate(resolve));
    const journal = join(folder.path, 'journal');
    {
      await using _ = openLog({ folder, store: new MemoryStore() });
    }
    for (const name of left.journal()) {
      writeFileSync(join(journal, name), readFileSync(join(left.path, 'journal', name)));
    }
    appendFileSync(join(journal, 'dead-00000002.ndjson'), `{"at":"end","id":"${cut.id}","started_at":1763`);
    appendFileSync(join(journal, 'dead-00000001.ndjson'), `\u0000\u0000\u0000\n`);
  }
  left[Symbol.dispose]();
  store.isAway = false;
  store.records.clear();
  await using log = openLog({ folder, store });
  await until(() => log.out.some((line) => line.includes('all records of dead instance dead are in the database')));
  expect(Object.fromEntries([...store.records].map(([id, record]) => [id, record['outcome']]))).toEqual({
    [ended.id]: 'answered',
    [running.id]: 'interrupted',
    [carried.id]: 'interrupted',
    [cut.id]: 'interrupted',
  });
  expect(store.records.get(running.id)).toMatchObject({
    instance: 'dead',
    model: 'gpt-6-sol',
    key_hint: 'dp-a1b2…wxyz',
  });
  expect(folder.journal().filter((name) => name.startsWith('dead'))).toEqual([]);
  expect(log.out.filter((line) => line.includes('was moved to'))).toHaveLength(1);
});

test('interrupted requests of a dead instance are recorded although the database refused connections at first', async () => {
  using folder = new TemporaryFolder();
  const running = identify(arrive());
  await killWhileRunning(folder, [running]);
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store });
  await until(() => store.inserts > 1);
  store.isAway = false;
  await until(() => log.out.some((line) => line.includes('all records of dead instance dead are in the database')));
  expect([...store.records].map(([id, { outcome: end }]) => [id, end])).toEqual([[running.id, 'interrupted']]);
});

test('segments of a dead instance that are removed while they wait for the database lose nothing', async () => {
  using folder = new TemporaryFolder();
  const running = identify(arrive());
  await killWhileRunning(folder, [running]);
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store });
  await until(() => store.inserts > 1);
  for (const name of folder.journal()) if (name.startsWith('dead')) rmSync(join(folder.path, 'journal', name));
  store.isAway = false;
  await until(() => log.out.some((line) => line.includes('all records of dead instance dead are in the database')));
  expect([...store.records.keys()]).toEqual([running.id]);
});

test('the segments of a live instance are not touched', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  await using first = openLog({ folder, instance: 'first', store });
  const running = arrive();
  first.journal.begin(running);
  {
    await using second = openLog({ folder, instance: 'second', store });
    const other = arrive();
    second.journal.begin(other);
    second.journal.end(other, outcome());
    await until(() => store.records.size === 1);
  }
  expect(folder.journal()).toEqual(['first-00000001.ndjson']);
  first.journal.end(running, outcome());
  await until(() => store.records.size === 2);
  expect(store.pluck('instance')).toEqual(['second', 'first']);
});

test('a stop without the database leaves the records for the next start', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const [ended, running] = [arrive(), identify(arrive())];
  store.isAway = true;
  {
    await using log = openLog({ folder, store, instance: 'before' });
    for (const exchange of [ended, running]) log.journal.begin(exchange);
    log.journal.enter(running);
    log.journal.end(ended, outcome());
  }
  expect(store.records.size).toBe(0);
  store.isAway = false;
  await using _ = openLog({ folder, store, instance: 'after' });
  await until(() => store.records.size === 2);
  expect(store.pluck('outcome').toSorted()).toEqual(['answered', 'interrupted']);
});

test('segments beyond those that stay open are counted when their files are removed, and later records arrive', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store, segmentAgeMs: 60_000, checkIntervalMs: 60_000 });
  const record = () => {
    for (const exchange of [arrive(), arrive()]) {
      log.journal.begin(exchange);
      log.journal.end(exchange, outcome());
    }
  };
  const [count, closed] = [bounds.openSegments + 3, 3];
  for (let index = 0; index < count; index++) {
    record();
    expect(await log.journal.roll()).toBe(true);
  }
  rmSync(join(folder.path, 'journal'), { recursive: true });
  record();
  store.isAway = false;
  await until(() => log.journal.finished.count === 0);
  await log.journal.roll();
  await until(() => store.records.size === (count - closed + 1) * 2);
  expect(log.journal.losses.total).toBe(closed * 2);
});

test('the shipper probes an idle database and reports that it takes no records', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
  try {
    using folder = new TemporaryFolder();
    const store = new MemoryStore();
    const log = openLog({ folder, store });
    await vi.advanceTimersByTimeAsync(60_000);
    expect([store.inserts > 1, log.failure]).toEqual([true, undefined]);
    store.isAway = true;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(log.failure?.reason).toBe('connect ECONNREFUSED');
    store.isAway = false;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(log.failure).toBeUndefined();
    await log[Symbol.asyncDispose]();
  } finally {
    vi.useRealTimers();
  }
});

test('records do not wait for the next search after one has failed', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
  try {
    using folder = new TemporaryFolder();
    const store = new MemoryStore();
    const disk = new InlineDisk();
    const ask = disk.run.bind(disk);
    disk.run = (name, ...values) => (name === 'list' ? Promise.reject(new Error('EIO')) : ask(name, ...values));
    const log = openLog({ folder, store, disk });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(log.failure?.reason).toBe('EIO');
    const exchange = arrive();
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome());
    await vi.advanceTimersByTimeAsync(3_000);
    expect(store.records.size).toBe(1);
    await log[Symbol.asyncDispose]();
  } finally {
    vi.useRealTimers();
  }
});

test('a stop while the database does not answer counts all segments that wait', async () => {
  using folder = new TemporaryFolder();
  const answer = Promise.withResolvers<never>();
  const store = new MemoryStore();
  store.insert = () => answer.promise;
  const log = openLog({ folder, store, segmentAgeMs: 1, stopDeadlineMs: 20 });
  for (const last of [false, true]) {
    const exchange = arrive();
    log.journal.begin(exchange);
    await Promise.resolve();
    log.journal.end(exchange, outcome());
    if (!last) await until(() => log.journal.finished.count === 1);
  }
  await log[Symbol.asyncDispose]();
  expect(folder.journal()).toHaveLength(2);
  const lines = () => log.out.filter((line) => line.includes('remain for the next start'));
  expect(lines()).toEqual(['warn 2 journal segments remain for the next start']);
  // The query fails once the connection is closed, after the journal has let go of its segments.
  answer.reject(new Error('Connection terminated'));
  await new Promise(setImmediate);
  expect(lines()).toHaveLength(1);
});
