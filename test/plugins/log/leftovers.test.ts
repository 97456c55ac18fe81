import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Operations } from '../../../plugins/log/disk/operations.ts';
import { InstanceLock } from '../../../plugins/log/instance-lock.ts';
import { Leftovers } from '../../../plugins/log/leftovers.ts';
import { MemoryLog, TemporaryFolder } from './fixture.ts';
import { InlineDisk } from './inline-disk.ts';

const disk = new InlineDisk();

it('a start removes the lock of an instance that was killed after everything had been shipped, and no other', async () => {
  using folder = new TemporaryFolder();
  const events = { prepareFolder: async () => undefined, onRetaken: () => undefined, onRetakeFailure: () => undefined };
  const parts = { disk, folder: folder.path, log: new MemoryLog(), events };
  await using _ = new InstanceLock({ ...parts, instance: 'self' });
  await using _other = new InstanceLock({ ...parts, instance: 'alive' });
  const owner = JSON.parse(readFileSync(join(folder.path, 'self.lock'), 'utf8')) as object;
  for (const name of ['killed', 'unshipped'])
    writeFileSync(join(folder.path, `${name}.lock`), JSON.stringify({ ...owner, pid: 2 ** 22 + 1 }));
  writeFileSync(join(folder.path, 'unshipped-00000001.ndjson'), '');
  await find(new Leftovers(disk, folder.path, 'self', new MemoryLog()));
  expect(readdirSync(folder.path).toSorted()).toEqual([
    'alive.lock',
    'self.lock',
    'unshipped-00000001.ndjson',
    'unshipped.lock',
  ]);
});

it('logs a folder that is named like a segment or a lock once, and finds the others', async () => {
  using folder = new TemporaryFolder();
  for (const name of ['dead-00000001.ndjson', 'other.lock']) mkdirSync(join(folder.path, name));
  for (const name of ['dead-00000002.ndjson', 'gone-00000001.ndjson']) writeFileSync(join(folder.path, name), 'x');
  const log = new MemoryLog();
  const leftovers = new Leftovers(disk, folder.path, 'self', log);
  for (const _ of [1, 2])
    expect(await find(leftovers)).toEqual([
      ['dead', 1],
      ['gone', 1],
    ]);
  expect(log.lines.toSorted()).toEqual([
    `error journal: ${join(folder.path, 'dead-00000001.ndjson')} is not a file: remove it`,
    `error journal: ${join(folder.path, 'other.lock')} is not a file: remove it`,
  ]);
  expect(leftovers.obstacle?.reason).toMatch(/is not a file: remove it$/);
  for (const name of ['dead-00000001.ndjson', 'other.lock']) rmdirSync(join(folder.path, name));
  for (const _ of [1, 2]) await find(leftovers);
  expect(leftovers.obstacle).toBeUndefined();
});

it('a start finds what a dead instance had written of a segment when it died, once, and leaves those of living ones', async () => {
  using folder = new TemporaryFolder();
  const events = { prepareFolder: async () => undefined, onRetaken: () => undefined, onRetakeFailure: () => undefined };
  await using _ = new InstanceLock({ disk, folder: folder.path, log: new MemoryLog(), events, instance: 'alive' });
  const files = ['dead-00000001.ndjson.part', 'dead-00000002.ndjson', 'dead-00000002.ndjson.part'];
  for (const name of [...files, 'alive-00000001.ndjson.part', 'self-00000001.ndjson.part'])
    writeFileSync(join(folder.path, name), name);
  const leftovers = new Leftovers(disk, folder.path, 'self', new MemoryLog());
  for (const times of [1, 2]) expect([times, await find(leftovers)]).toEqual([times, [['dead', 2]]]);
  expect(readdirSync(folder.path).toSorted()).toEqual([
    'alive-00000001.ndjson.part',
    'alive.lock',
    'dead-00000001.ndjson',
    'dead-00000002.ndjson',
    'self-00000001.ndjson.part',
  ]);
  expect(readFileSync(join(folder.path, 'dead-00000002.ndjson'), 'utf8')).toBe('dead-00000002.ndjson');
});

/** Cannot give files their names, until it is repaired. */
class BrokenDisk extends InlineDisk {
  isBroken = true;

  override async run<Name extends keyof Operations>(
    name: Name,
    ...values: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    if (this.isBroken && name === 'adopt') throw new Error('EROFS: read-only file system');
    return super.run(name, ...values);
  }
}

it('leaves an instance whose last segments cannot get their names for later, says so once, and finds the others', async () => {
  using folder = new TemporaryFolder();
  const broken = new BrokenDisk();
  for (const name of ['dead-00000001.ndjson.part', 'dead-00000002.ndjson', 'other-00000001.ndjson'])
    writeFileSync(join(folder.path, name), 'x');
  const log = new MemoryLog();
  const leftovers = new Leftovers(broken, folder.path, 'self', log);
  for (const _ of [1, 2]) expect(await find(leftovers)).toEqual([['other', 1]]);
  const reason = `${join(folder.path, 'dead-00000001.ndjson.part')} cannot be renamed: EROFS: read-only file system`;
  expect(log.lines).toEqual([`error journal: ${reason}`]);
  expect(leftovers.obstacle?.reason).toBe(reason);
  broken.isBroken = false;
  for (const _ of [1, 2])
    expect(await find(leftovers)).toEqual([
      ['dead', 2],
      ['other', 1],
    ]);
  expect(leftovers.obstacle).toBeUndefined();
});

it('a start finds nothing while the folder is gone', async () => {
  using folder = new TemporaryFolder();
  expect(await new Leftovers(disk, join(folder.path, 'gone'), 'self', new MemoryLog()).findAll()).toEqual([]);
});

/** Instances and how many segments each has left. */
async function find(leftovers: Leftovers): Promise<[string, number][]> {
  const found = await leftovers.findAll();
  for (const { segments } of found) for (const segment of segments) segment[Symbol.dispose]();
  return found
    .map(({ instance, segments }): [string, number] => [instance, segments.length])
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}
