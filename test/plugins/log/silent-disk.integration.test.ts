import { expect, test } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { exitAtOnce, hungWork } from '#core/platform/hung-work.ts';
import { recordsCheck } from '../../../plugins/log/records-check.ts';
import { arrive, hostOf, identify, linesOf, outcome, TemporaryFolder, until } from './fixture.ts';
import { openSlow, patience, record } from './slow-disk.ts';

test('a request waits for its line for 200 ms at most, and after it none does until the disk has answered', async () => {
  using folder = new TemporaryFolder();
  using slow = openSlow(folder);
  const { log, store, stop, go, disk } = slow;
  const ids = [(await record(log)).id];
  stop();
  const first = await record(log);
  expect(first.waited).toBeGreaterThan(100);
  expect(first.waited).toBeLessThan(patience);
  const began = performance.now();
  for (let index = 0; index < 100; index++) ids.push((await record(log)).id);
  expect(performance.now() - began).toBeLessThan(patience / 2);
  expect(disk.isUnresponsive).toBe(true);
  expect(log.journal.trouble?.reason).toBe('the disk does not answer');
  // What is in memory reaches the database meanwhile.
  await until(() => store.records.size >= 100);
  go();
  await until(() => !disk.isUnresponsive);
  await until(async () => {
    ids.push((await record(log)).id);
    return linesOf(folder, 'data').length > 0;
  });
  await log[Symbol.asyncDispose]();
  expect([...ids, first.id].filter((id) => store.records.get(id)?.['outcome'] !== 'answered')).toEqual([]);
  expect(log.journal.losses.total).toBe(0);
});

test('while the disk does not answer, the check of records fails and no timer waits for it', async () => {
  using folder = new TemporaryFolder();
  using slow = openSlow(folder, { checkIntervalMs: 5 });
  const { log, stop, go } = slow;
  await record(log);
  stop();
  let latest = performance.now();
  let longest = 0;
  const ticks = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - latest);
    latest = now;
  }, 5);
  await record(log);
  await until(() => !recordsCheck.check(hostOf(log)).ok);
  const found = recordsCheck.check(hostOf(log));
  expect(found).toMatchObject({
    reason: expect.stringContaining('The journal cannot be written (the disk does not answer)') as string,
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  clearInterval(ticks);
  expect(longest).toBeLessThan(400);
  go();
  await log[Symbol.asyncDispose]();
});

test('over the bound of memory, records are counted as lost', async () => {
  using folder = new TemporaryFolder();
  using slow = openSlow(folder);
  const { log, store, stop, go } = slow;
  await record(log);
  store.isAway = true;
  stop();
  await record(log);
  const body = 'x'.repeat(bounds.journalLines / 2);
  for (let bytes = 0; bytes < bounds.journalMemory * 1.5; bytes += body.length) {
    const exchange = arrive();
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome(), [body]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(log.journal.waitingBytes).toBeLessThan(bounds.journalMemory * 1.1);
  expect(log.out.some((line) => line.includes('bodies not recorded') || line.includes('requests not recorded'))).toBe(
    true,
  );
  go();
  store.isAway = false;
  await log[Symbol.asyncDispose]();
});

test('a stop does not wait for a disk that does not answer, and its last records go to the database', async () => {
  using folder = new TemporaryFolder();
  using slow = openSlow(folder, { segmentAgeMs: 60_000 });
  const { log, store, stop } = slow;
  await record(log);
  stop();
  // Its line is on the way to the file, and not in it.
  const { id } = await record(log);
  const running = identify(arrive());
  log.journal.begin(running);
  const began = performance.now();
  await log[Symbol.asyncDispose]();
  expect(performance.now() - began).toBeLessThan(patience);
  expect([store.records.get(id)?.['outcome'], store.records.get(running.id)?.['outcome']]).toEqual([
    'answered',
    'interrupted',
  ]);
  expect(log.journal.losses.total).toBe(0);
  expect([...hungWork]).toContain(slow.disk);
  hungWork.delete(slow.disk);
});

test('lines that a full disk refuses in the thread are taken back, and none is lost', async () => {
  using folder = new TemporaryFolder();
  using slow = openSlow(folder);
  const { log, store, fill, go } = slow;
  const ids = [(await record(log)).id];
  fill();
  for (let index = 0; index < 50; index++) ids.push((await record(log)).id);
  await until(() => log.journal.trouble?.reason.includes('ENOSPC') === true);
  await until(() => store.records.size >= ids.length);
  go();
  ids.push((await record(log)).id);
  await log[Symbol.asyncDispose]();
  expect(ids.filter((id) => store.records.get(id)?.['outcome'] !== 'answered')).toEqual([]);
  expect(log.journal.losses.total).toBe(0);
});

test('while the disk does not answer, records go on although files wait, and reach the collector', async () => {
  using folder = new TemporaryFolder();
  using slow = openSlow(folder, { spoolBytes: 1_000_000, checkIntervalMs: 20 });
  const { log, store, stop, go, disk } = slow;
  store.isAway = true;
  await until(async () => {
    await record(log);
    return log.journal.finished.count >= 2;
  });
  stop();
  await until(async () => {
    await record(log);
    return disk.isUnresponsive;
  });
  store.isAway = false;
  const ids = [(await record(log)).id, (await record(log)).id];
  await until(() => ids.every((id) => store.records.has(id)));
  expect(disk.isUnresponsive).toBe(true);
  const lines: string[] = [];
  await until(() => log.spool?.oldest() !== undefined);
  for (let oldest = log.spool?.oldest(); oldest !== undefined; oldest = log.spool?.oldest()) {
    for await (const some of oldest.read()) lines.push(...some);
    await oldest.remove();
  }
  expect(ids.filter((id) => !lines.some((line) => line.includes(id)))).toEqual([]);
  expect(log.spool?.dropped).toBe(0);
  go();
  await until(() => !disk.isUnresponsive);
  await log[Symbol.asyncDispose]();
});

test('what is shipped while the disk does not answer is removed once it does, and is no obstacle meanwhile', async () => {
  using folder = new TemporaryFolder();
  using slow = openSlow(folder, { segmentAgeMs: 60_000 });
  const { log, store, stop, go, disk } = slow;
  const insert = store.insert.bind(store);
  await record(log);
  await until(() => linesOf(folder, 'data').length > 0);
  const [name = ''] = folder.journal('data');
  store.insert = async (instance, lines) => {
    await insert(instance, lines);
    stop();
  };
  await log.journal.roll();
  await until(() => disk.isUnresponsive);
  await until(() => log.journal.finished.count === 0);
  expect(log.leftovers.obstacle).toBeUndefined();
  go();
  await until(() => !folder.journal('data').includes(name));
  await until(() => !disk.isUnresponsive);
  await log[Symbol.asyncDispose]();
});

test('a process whose threads all answer ends as usual', () => {
  expect(hungWork.size).toBe(0);
  const { exit } = process;
  const codes: unknown[] = [];
  process.exit = ((code: number) => codes.push(code)) as never;
  try {
    exitAtOnce(3);
  } finally {
    process.exit = exit;
  }
  expect(codes).toEqual([3]);
});
