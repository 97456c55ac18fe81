import fs, { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { type Operations, operations } from '../../../plugins/log/disk/operations.ts';
import { MemoryBudget } from '../../../plugins/log/memory-blocks.ts';
import { OwnSegment } from '../../../plugins/log/own-segment.ts';
import type { Segment } from '../../../plugins/log/segment.ts';
import { TemporaryFolder, until } from './fixture.ts';
import { InlineDisk } from './inline-disk.ts';

const disk = new InlineDisk();

function create(path: string): OwnSegment {
  return OwnSegment.createInFile(disk, path, operations.create(path, 0));
}

const prepare = () => Promise.resolve();

/** Answers late that a file is written again. */
class LateDisk extends InlineDisk {
  readonly answer = Promise.withResolvers<void>();

  override async run<Name extends keyof Operations>(
    name: Name,
    ...values: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    const result = await super.run(name, ...values);
    if (name === 'restore') await this.answer.promise;
    return result;
  }
}

const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${'x'.repeat(index % 300)}`);
const text = Buffer.from(`${lines.join('\n')}\n`);

function fill(segment: OwnSegment): OwnSegment {
  for (let offset = 0; offset < text.length;)
    offset += segment.append(text, offset, Math.min(7_001, text.length - offset));
  disk.wake();
  return segment;
}

async function readWhole(segment: Segment): Promise<string[]> {
  return (await Array.fromAsync(segment.read())).flat().filter((line) => line !== '');
}

test('a segment is read after its file was removed, and can be written again', async () => {
  using folder = new TemporaryFolder();
  const segment = fill(create(join(folder.path, 'test-00000001.ndjson')));
  rmSync(segment.path);
  expect([await segment.isIntact(), await readWhole(segment)]).toEqual([false, lines]);
  await segment.restore(prepare);
  segment.close();
  expect([await segment.isIntact(), await readWhole(segment)]).toEqual([true, lines]);
});

test('another file at the path of a segment is not taken for it and not removed', async () => {
  using folder = new TemporaryFolder();
  const segment = fill(create(join(folder.path, 'test-00000001.ndjson')));
  rmSync(segment.path);
  writeFileSync(segment.path, 'another');
  expect(await segment.isIntact()).toBe(false);
  await expect(segment.restore(prepare)).rejects.toThrow('EEXIST');
  await segment.remove();
  expect(readFileSync(segment.path, 'utf8')).toBe('another');
  segment.close();
});

test('a closed segment whose file is gone cannot be read', async () => {
  using folder = new TemporaryFolder();
  const segment = fill(create(join(folder.path, 'test-00000001.ndjson')));
  segment.close();
  expect(await readWhole(segment)).toEqual(lines);
  rmSync(segment.path);
  await expect(readWhole(segment)).rejects.toMatchObject({ isPermanent: true });
});

test('a segment in memory is read as one on disk, and gives its memory back when it is written to disk', async () => {
  using folder = new TemporaryFolder();
  const budget = new MemoryBudget();
  const segment = fill(OwnSegment.createInMemory(disk, join(folder.path, 'test-00000001.ndjson'), budget));
  expect([segment.bytes, await segment.isIntact(), await readWhole(segment)]).toEqual([text.length, false, lines]);
  expect(bounds.journalMemory - budget.freeBytes).toBeLessThan(text.length + 64 * 1024);
  await segment.restore(prepare);
  expect([budget.freeBytes, await segment.isIntact(), await readWhole(segment)]).toEqual([
    bounds.journalMemory,
    true,
    lines,
  ]);
});

test('segments in memory share a bound, and take lines as a whole or not at all', () => {
  const budget = new MemoryBudget();
  const line = Buffer.alloc(1024 * 1024, 'x');
  const segments = [OwnSegment.createInMemory(disk, 'one', budget), OwnSegment.createInMemory(disk, 'two', budget)];
  for (let index = 0; index < 16; index++) segments[index % 2]?.append(line, 0, line.length);
  expect(() => segments[0]?.append(line, 0, 1)).toThrow('already wait in memory');
  expect(segments.map(({ bytes }) => bytes)).toEqual([8 * line.length, 8 * line.length]);
  segments[1]?.close();
  expect(segments[0]?.append(line, 0, line.length)).toBe(line.length);
});

test('a segment that is shipped while it is written again leaves no file', async () => {
  using folder = new TemporaryFolder();
  const late = new LateDisk();
  const segment = fill(OwnSegment.createInMemory(late, join(folder.path, 'test-00000001.ndjson'), new MemoryBudget()));
  const restored = segment.restore(prepare);
  await until(() => existsSync(segment.path));
  const removed = segment.remove().then(() => segment.close());
  late.answer.resolve();
  await Promise.all([restored, removed]);
  expect([existsSync(segment.path), await segment.restore(prepare)]).toEqual([false, false]);
});

test('a segment that is shipped while its folder is made is not written again', async () => {
  using folder = new TemporaryFolder();
  const segment = fill(OwnSegment.createInMemory(disk, join(folder.path, 'test-00000001.ndjson'), new MemoryBudget()));
  let removed: Promise<void> | undefined;
  const isWritten = await segment.restore(async () => {
    removed = segment.remove();
  });
  await removed;
  segment.close();
  expect([isWritten, existsSync(segment.path)]).toEqual([false, false]);
});

test('a segment that is written again by two at a time is written once, and both hear of it', async () => {
  using folder = new TemporaryFolder();
  const late = new LateDisk();
  const budget = new MemoryBudget();
  const segment = fill(OwnSegment.createInMemory(late, join(folder.path, 'test-00000001.ndjson'), budget));
  const both = [segment.restore(prepare), segment.restore(prepare)];
  late.answer.resolve();
  await Promise.all(both);
  expect([await segment.restore(prepare), await readWhole(segment)]).toEqual([false, lines]);
  expect(budget.freeBytes).toBe(bounds.journalMemory);
});

test('a closed segment whose file is gone is not written again without its lines', async () => {
  using folder = new TemporaryFolder();
  const segment = fill(create(join(folder.path, 'test-00000001.ndjson')));
  segment.close();
  rmSync(segment.path);
  await expect(segment.restore(prepare)).rejects.toThrow('was closed and has been removed');
  expect([segment.isReadable, existsSync(segment.path)]).toEqual([false, false]);
});

test('no file is made under a volume that was unmounted after its folder was looked at', async () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'test-00000001.ndjson');
  const { dev } = statSync(folder.path);
  const reason = `the volume of ${folder.path} is not mounted; mount it`;
  expect(() => operations.create(path, 0, [dev])).toThrow(reason);
  expect(() => operations.restore(path, Buffer.from('line'), [dev])).toThrow(reason);
  const segment = fill(OwnSegment.createInMemory(disk, path, new MemoryBudget()));
  await expect(segment.restore(prepare, [dev])).rejects.toThrow(reason);
  expect(existsSync(path)).toBe(false);
});

/** Replaces calls of node:fs, until it is disposed of. */
function replaceCalls(calls: Partial<typeof fs>): Disposable {
  for (const [name, call] of Object.entries(calls)) vi.spyOn(fs, name as 'closeSync').mockImplementation(call as never);
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    },
  };
}

const shortText = Buffer.from('line\n');

const failWith = (code: string) => {
  throw Object.assign(new Error(`${code}: it fails`), { code });
};

test.each(['create', 'restore'] as const)('a file that cannot be closed is not left by %s', (name) => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'test-00000001.ndjson');
  const { closeSync } = fs;
  using _ = replaceCalls({
    writeSync: name === 'create' ? () => failWith('ENOSPC') : fs.writeSync,
    closeSync(file) {
      closeSync(file);
      failWith('EDQUOT');
    },
  });
  expect(() => operations[name](path, (name === 'create' ? 1 : text) as never)).toThrow('EDQUOT: it fails');
  expect(readdirSync(folder.path)).toEqual([]);
});

test('a file that is written again is at its path once it is complete, also without hard links, and replaces no other', () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'test-00000001.ndjson');
  const { writeSync } = fs;
  const seen: string[][] = [];
  const look = ((...values: Parameters<typeof writeSync>) => {
    seen.push(readdirSync(folder.path));
    return writeSync(...values);
  }) as typeof writeSync;
  for (const linkSync of [fs.linkSync, () => failWith('EPERM'), () => failWith('EACCES')]) {
    using _ = replaceCalls({ writeSync: look, linkSync });
    const own = operations.restore(path, shortText);
    expect([readFileSync(path), operations.isAt(path, own)]).toEqual([shortText, true]);
    expect(() => operations.restore(path, Buffer.from('other'))).toThrow();
    expect(readFileSync(path)).toEqual(shortText);
    expect(readdirSync(folder.path)).toEqual(['test-00000001.ndjson']);
    rmSync(path);
  }
  expect(seen[0]).toEqual(['test-00000001.ndjson.part']);
});

test.each(['EEXIST', 'EIO'])('a file whose link is made although the disk answers %s is written again', (code) => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'test-00000001.ndjson');
  const { linkSync } = fs;
  using _ = replaceCalls({
    linkSync(part, name) {
      linkSync(part, name);
      failWith(code);
    },
  });
  const own = operations.restore(path, shortText);
  expect([readFileSync(path), operations.isAt(path, own)]).toEqual([shortText, true]);
  rmSync(path);
  writeFileSync(`${path}.part`, shortText);
  operations.adopt(path);
  expect(readFileSync(path)).toEqual(shortText);
  expect(readdirSync(folder.path)).toEqual(['test-00000001.ndjson']);
});

test('a file that cannot get its name is kept, and one that another instance has adopted is not missed', () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'test-00000001.ndjson');
  writeFileSync(`${path}.part`, shortText);
  {
    using _ = replaceCalls({ linkSync: () => failWith('EROFS'), renameSync: () => failWith('EROFS') });
    expect(() => operations.adopt(path)).toThrow('EROFS: it fails');
  }
  expect(readdirSync(folder.path)).toEqual(['test-00000001.ndjson.part']);
  rmSync(`${path}.part`);
  operations.adopt(path);
  expect(readdirSync(folder.path)).toEqual([]);
});

test('a file that can be neither used nor removed is closed', () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'test-00000001.ndjson');
  const { openSync, closeSync } = fs;
  const open = new Set<number>();
  using _ = replaceCalls({
    openSync(...values) {
      const file = openSync(...values);
      open.add(file);
      return file;
    },
    closeSync(file) {
      closeSync(file);
      open.delete(file);
    },
    fstatSync: (() => failWith('EIO')) as unknown as typeof fs.fstatSync,
    rmSync: () => failWith('EROFS'),
  });
  expect(() => operations.create(path, 0)).toThrow('EIO: it fails');
  expect(() => operations.open(path)).toThrow('EIO: it fails');
  expect(open.size).toBe(0);
});
