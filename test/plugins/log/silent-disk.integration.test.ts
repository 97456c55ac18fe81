import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { exitAtOnce, hungWork } from '#core/platform/hung-work.ts';
import { ThreadedDisk } from '../../../plugins/log/disk/disk.ts';
import { recordsCheck } from '../../../plugins/log/records-check.ts';
import { arrive, hostOf, identify, linesOf, MemoryStore, openLog, outcome, TemporaryFolder, until } from './fixture.ts';

/** Ms that a begin line may be waited for, with what a busy machine adds. */
const patience = 2_000;

/** A disk that can be stopped. */
function openDisk(folder: TemporaryFolder) {
  const gate = join(folder.path, 'gate');
  // The thread gets a copy.
  process.env['DISK_GATE'] = gate;
  const disk = new ThreadedDisk(new URL('./slow-thread.ts', import.meta.url));
  delete process.env['DISK_GATE'];
  return {
    disk,
    stop: () => writeFileSync(gate, ''),
    fill: () => writeFileSync(gate, 'full'),
    go: () => rmSync(gate, { force: true }),
    [Symbol.dispose]() {
      rmSync(gate, { force: true });
    },
  };
}

function openSlow(folder: TemporaryFolder, options: Partial<Parameters<typeof openLog>[0]> = {}) {
  const dataFolder = join(folder.path, 'data');
  mkdirSync(dataFolder, { recursive: true });
  const gated = openDisk(folder);
  const store = new MemoryStore();
  const log = openLog({ folder, dataFolder, store, disk: gated.disk, ...options });
  return { ...gated, store, log };
}

async function record(log: ReturnType<typeof openLog>): Promise<{ id: string; waited: number }> {
  const exchange = identify(arrive());
  const began = performance.now();
  log.journal.begin(exchange);
  await log.journal.written(exchange);
  const waited = performance.now() - began;
  log.journal.end(exchange, outcome());
  return { id: exchange.id, waited };
}

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
  expect(disk.isSilent).toBe(true);
  expect(log.journal.trouble?.reason).toBe('the disk does not answer');
  // What is in memory reaches the database meanwhile.
  await until(() => store.records.size >= 100);
  go();
  await until(() => !disk.isSilent);
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
  using slow = openSlow(folder, { checkEvery: 5 });
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
  using slow = openSlow(folder, { segmentAge: 60_000 });
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

test('lines that come faster than the disk takes them wait for room', async () => {
  using folder = new TemporaryFolder();
  await using disk = new ThreadedDisk();
  const { file } = await disk.ask('create', join(folder.path, 'file'), 0);
  const lines = Buffer.from(`${'x'.repeat(99_999)}\n`);
  for (let index = 0; index < 100; index++) expect(disk.append(file, lines, 0, lines.length)).toBe(lines.length);
  disk.wake();
  await disk.written();
  expect((await disk.ask('readText', join(folder.path, 'file')))?.text).toBe(lines.toString().repeat(100));
});

test('a stall of the event loop is not taken for a disk that does not answer', async () => {
  using folder = new TemporaryFolder();
  await using disk = new ThreadedDisk();
  const path = join(folder.path, 'file');
  const { file } = await disk.ask('create', path, 0);
  for (let time = 0; time < 20; time++) {
    disk.append(file, Buffer.from('line\n'), 0, 5);
    const written = disk.written();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    disk.wake();
    await written;
    expect(disk.isSilent).toBe(false);
  }
  await until(() => readFileSync(path, 'utf8') === 'line\n'.repeat(20));
});

test('the thread loads nothing that NODE_OPTIONS names', async () => {
  using folder = new TemporaryFolder();
  const [preload, marker] = [join(folder.path, 'preload.cjs'), join(folder.path, 'marker')];
  writeFileSync(preload, `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`);
  process.env['NODE_OPTIONS'] = `--require ${preload}`;
  await using disk = new ThreadedDisk();
  delete process.env['NODE_OPTIONS'];
  await disk.ask('create', join(folder.path, 'file'), 0);
  expect(existsSync(marker)).toBe(false);
});

test('what a thread that ends has not written is taken back, with the reason', async () => {
  await using disk = new ThreadedDisk(new URL('data:text/javascript,throw new Error("no memory")'));
  const lines = Buffer.from('line\n');
  disk.append(3, lines, 0, lines.length);
  const failed = Promise.withResolvers<[string, string[]]>();
  disk.onFailure = (error, unwritten) =>
    failed.resolve([error.message, unwritten.map(({ lines: own }) => own.toString())]);
  expect(await failed.promise).toEqual(['no memory', ['line\n']]);
  expect(disk.isSilent).toBe(true);
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
