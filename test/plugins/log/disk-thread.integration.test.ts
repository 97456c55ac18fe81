import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { hungWork } from '#core/platform/hung-work.ts';
import { DiskUnresponsive } from '../../../plugins/log/disk/contract.ts';
import { ThreadedDisk } from '../../../plugins/log/disk/disk.ts';
import { listFolder } from '../../../plugins/log/disk/list-folder.ts';
import { OwnSegment } from '../../../plugins/log/own-segment.ts';
import { recordsCheck } from '../../../plugins/log/records-check.ts';
import { hostOf, linesOf, MemoryStore, TemporaryFolder, until } from './fixture.ts';
import { openDisk, openSlow, patience, record } from './slow-disk.ts';

/** Counts how often each record comes. */
class CountingStore extends MemoryStore {
  readonly times = new Map<string, number>();

  override async insert(instance: string, lines: readonly string[]): Promise<void> {
    await super.insert(instance, lines);
    for (const { id } of JSON.parse(`[${lines.join()}]`) as { id: string }[])
      this.times.set(id, (this.times.get(id) ?? 0) + 1);
  }
}

test('lines that come faster than the disk takes them wait for room', async () => {
  using folder = new TemporaryFolder();
  await using disk = new ThreadedDisk();
  const { file } = await disk.run('create', join(folder.path, 'file'), 0);
  const lines = Buffer.from(`${'x'.repeat(99_999)}\n`);
  for (let index = 0; index < 100; index++) expect(disk.append(file, lines, 0, lines.length)).toBe(lines.length);
  disk.wake();
  await disk.whenWritten();
  expect((await disk.run('readText', join(folder.path, 'file')))?.text).toBe(lines.toString().repeat(100));
});

test('what is appended in one turn waits for a throttled disk as long as one line, however much it is', async () => {
  using folder = new TemporaryFolder();
  using gated = openDisk(folder);
  await using disk = gated.disk;
  const path = join(folder.path, 'file');
  const segment = OwnSegment.createInFile(disk, path, await disk.run('create', path, 0));
  gated.throttle();
  const lines = Buffer.from(`${'x'.repeat(99_999)}\n`.repeat(100));
  const began = performance.now();
  expect(() => segment.appendHead(lines)).toThrow(DiskUnresponsive);
  expect(performance.now() - began).toBeLessThan(patience);
  gated.go();
  await until(() => !disk.isUnresponsive);
  for (let turn = 0; turn < 3; turn++) {
    expect(disk.append(segment.file as number, lines, 0, 100_000)).toBe(100_000);
    await new Promise(setImmediate);
  }
});

test('what a turn does between two waits for room is not taken for a disk that does not answer', async () => {
  using folder = new TemporaryFolder();
  using gated = openDisk(folder);
  await using disk = gated.disk;
  const { file } = await disk.run('create', join(folder.path, 'file'), 0);
  gated.throttle();
  const lines = Buffer.from(`${'x'.repeat(99_999)}\n`);
  const fill = () => {
    for (let index = 0; index < 6; index++) expect(disk.append(file, lines, 0, lines.length)).toBe(lines.length);
  };
  fill();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  fill();
  expect(disk.isUnresponsive).toBe(false);
});

test('a stall of the event loop is not taken for a disk that does not answer', async () => {
  using folder = new TemporaryFolder();
  await using disk = new ThreadedDisk();
  const path = join(folder.path, 'file');
  const { file } = await disk.run('create', path, 0);
  for (let time = 0; time < 20; time++) {
    disk.append(file, Buffer.from('line\n'), 0, 5);
    const written = disk.whenWritten();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    disk.wake();
    await written;
    expect(disk.isUnresponsive).toBe(false);
  }
  await until(() => readFileSync(path, 'utf8') === 'line\n'.repeat(20));
});

test.runIf(process.platform === 'linux')(
  'a thread that needs the processor is not taken for a silent disk',
  async () => {
    using folder = new TemporaryFolder();
    using gated = openDisk(folder);
    await using disk = gated.disk;
    const { file } = await disk.run('create', join(folder.path, 'file'), 0);
    gated.keepBusy();
    disk.append(file, Buffer.from('line\n'), 0, 5);
    disk.wake();
    await disk.whenWritten();
    expect(disk.copyUnwritten()).toHaveLength(1);
    expect(disk.isUnresponsive).toBe(false);
    gated.go();
    await until(() => disk.copyUnwritten().length === 0);
  },
);

test('the thread loads nothing that NODE_OPTIONS names', async () => {
  using folder = new TemporaryFolder();
  const [preload, marker] = [join(folder.path, 'preload.cjs'), join(folder.path, 'marker')];
  writeFileSync(preload, `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`);
  process.env['NODE_OPTIONS'] = `--require ${preload}`;
  await using disk = new ThreadedDisk();
  delete process.env['NODE_OPTIONS'];
  await disk.run('create', join(folder.path, 'file'), 0);
  expect(existsSync(marker)).toBe(false);
});

test('a thread that ends is started again, readiness tells it, and no record is lost or written twice', async () => {
  using folder = new TemporaryFolder();
  const store = new CountingStore();
  using slow = openSlow(folder, { store, recoveryMs: 0, checkIntervalMs: 20 });
  const { log, end, disk } = slow;
  const ids = [(await record(log)).id];
  await until(() => store.records.size === 1);
  end();
  await until(async () => {
    ids.push((await record(log)).id);
    return log.journal.trouble !== undefined;
  });
  const reason = 'the thread that writes the journal has ended and is being restarted';
  expect(log.out).toContainEqual(expect.stringMatching(/^error the journal cannot be written/));
  expect(recordsCheck.check(hostOf(log))).toMatchObject({
    ok: false,
    reason: expect.stringContaining(reason) as string,
  });
  await until(() => !disk.isUnresponsive);
  await until(async () => {
    ids.push((await record(log)).id);
    return recordsCheck.check(hostOf(log)).ok && linesOf(folder, 'data').length > 0;
  });
  await log[Symbol.asyncDispose]();
  expect(ids.filter((id) => store.records.get(id)?.['outcome'] !== 'answered')).toEqual([]);
  expect([...new Set(store.times.values())]).toEqual([1]);
  expect(log.journal.losses.total).toBe(0);
  expect(hungWork.has(disk)).toBe(false);
});

test('calls that wait for a thread that ends fail at once, and the next thread serves later calls', async () => {
  using folder = new TemporaryFolder();
  using gated = openDisk(folder);
  await using disk = gated.disk;
  const path = join(folder.path, 'file');
  const { file } = await disk.run('create', path, 0);
  gated.end();
  disk.append(file, Buffer.from('line\n'), 0, 5);
  const failed: string[] = [];
  disk.onFailure = (_, unwritten) => failed.push(...unwritten.map(({ lines }) => lines.toString()));
  const asked = disk.run('open', path);
  const written = disk.whenWritten();
  const began = performance.now();
  await expect(asked).rejects.toThrow('the thread that writes the journal has ended');
  await written;
  expect(performance.now() - began).toBeLessThan(patience);
  expect(failed).toEqual(['line\n']);
  disk.post('remove', path);
  await until(() => !disk.isUnresponsive);
  await until(() => !existsSync(path));
  // Files outlive the thread that opened them.
  disk.append(file, Buffer.from('more\n'), 0, 5);
  disk.wake();
  await disk.whenWritten();
  expect(Buffer.from(await disk.run('read', file, 0, 100)).toString()).toBe('more\n');
});

test('a thread that ends again and again is started less and less often', async () => {
  await using disk = new ThreadedDisk(new URL('data:text/javascript,throw new Error("no memory")'));
  const ends: number[] = [];
  disk.onFailure = () => ends.push(performance.now());
  await until(() => ends.length === 4);
  expect((ends[3] ?? 0) - (ends[2] ?? 0)).toBeGreaterThan(390);
});

test('a disk that answers in the moment in which it counts as silent is not silent for ever', async () => {
  using folder = new TemporaryFolder();
  using gated = openDisk(folder);
  await using disk = gated.disk;
  const { file } = await disk.run('create', join(folder.path, 'file'), 0);
  const add = vi.spyOn(hungWork, 'add').mockImplementationOnce(() => {
    gated.go();
    // Until the thread has written it.
    while (disk.copyUnwritten().length > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return hungWork;
  });
  gated.stop();
  const lines = Buffer.from(`${'x'.repeat(99_999)}\n`);
  const fill = () => {
    for (;;) {
      disk.append(file, lines, 0, lines.length);
      disk.wake();
    }
  };
  expect(fill).toThrow('the disk does not answer');
  expect(add).toHaveBeenCalledOnce();
  add.mockRestore();
  await until(() => !disk.isUnresponsive);
});

test('lines that were appended before a file is read are in it', async () => {
  using folder = new TemporaryFolder();
  using gated = openDisk(folder);
  await using disk = gated.disk;
  const path = join(folder.path, 'file');
  const { file } = await disk.run('create', path, 0);
  gated.lag();
  disk.append(file, Buffer.from('one\n'), 0, 4);
  disk.wake();
  await until(() => readFileSync(path, 'utf8') === 'one\n');
  // The thread has looked for lines, and not yet for questions.
  disk.append(file, Buffer.from('two\n'), 0, 4);
  expect(Buffer.from(await disk.run('read', file, 0, 100)).toString()).toBe('one\ntwo\n');
});

test('a large folder is listed in steps, and no line waits long for it', async () => {
  using folder = new TemporaryFolder();
  using gated = openDisk(folder);
  await using disk = gated.disk;
  const many = join(folder.path, 'many');
  mkdirSync(many);
  const names = Array.from({ length: 1_300 }, (_, index) => `dead-${String(index).padStart(8, '0')}.ndjson`);
  for (const name of names) writeFileSync(join(many, name), 'x');
  const { file } = await disk.run('create', join(folder.path, 'file'), 0);
  let silences = 0;
  disk.onUnresponsive = () => silences++;
  gated.slowDown();
  const found: string[] = [];
  for await (const entries of listFolder(disk, many)) {
    found.push(...entries.filter(({ isFile, bytes }) => isFile && bytes === 1).map(({ name }) => name));
    disk.append(file, Buffer.from('line\n'), 0, 5);
    disk.wake();
    await disk.whenWritten();
  }
  expect(found.toSorted()).toEqual(names);
  expect(silences).toBe(0);
});

test('a file that was written again too late is removed, and can be written again', async () => {
  using folder = new TemporaryFolder();
  using gated = openDisk(folder);
  await using disk = gated.disk;
  const path = join(folder.path, 'test-00000001.ndjson');
  const { file } = await disk.run('create', join(folder.path, 'file'), 0);
  gated.stop();
  const late = disk.run('restore', path, Buffer.from('line\n'));
  disk.append(file, Buffer.from('line\n'), 0, 5);
  disk.wake();
  await disk.whenWritten();
  await expect(late).rejects.toThrow('the disk does not answer');
  gated.go();
  await until(() => !disk.isUnresponsive);
  await until(
    async () => (await disk.run('restore', path, Buffer.from('line\n')).catch(() => undefined)) !== undefined,
  );
  expect(readFileSync(path, 'utf8')).toBe('line\n');
});

test('what a thread that ends has not written is taken back, with the reason', async () => {
  await using disk = new ThreadedDisk(new URL('data:text/javascript,throw new Error("no memory")'));
  const lines = Buffer.from('line\n');
  disk.append(3, lines, 0, lines.length);
  const failed = Promise.withResolvers<[string, string[]]>();
  disk.onFailure = (error, unwritten) =>
    failed.resolve([error.message, unwritten.map(({ lines: own }) => own.toString())]);
  expect(await failed.promise).toEqual([
    'the thread that writes the journal has ended and is being restarted: no memory',
    ['line\n'],
  ]);
  expect(disk.isUnresponsive).toBe(true);
});

test('the thread takes its compiled modules from the cache of the process', async () => {
  using folder = new TemporaryFolder();
  const child = `
    import { readdirSync } from 'node:fs';
    import { enableCompileCache, getCompileCacheDir, flushCompileCache } from 'node:module';
    enableCompileCache(${JSON.stringify(folder.path)});
    const { ThreadedDisk } = await import(${JSON.stringify(import.meta.resolve('../../../plugins/log/disk/disk.ts'))});
    flushCompileCache();
    const ofProcess = readdirSync(getCompileCacheDir()).length;
    const disk = new ThreadedDisk();
    await disk.run('create', ${JSON.stringify(join(folder.path, 'file'))}, 0);
    await disk[Symbol.asyncDispose]();
    console.log(readdirSync(getCompileCacheDir()).length - ofProcess);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', child]);
  // The thread itself, its operations and what only they import.
  expect(Number(stdout)).toBeGreaterThanOrEqual(2);
});
