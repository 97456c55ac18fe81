import { readdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { createLogger } from '#core/platform/logger.ts';
import { InstanceLock } from '../../../plugins/log/instance-lock.ts';
import { FileSpool } from '../../../plugins/log/spool.ts';
import { MemoryLog, TemporaryFolder, until } from './fixture.ts';
import { InlineDisk } from './inline-disk.ts';

const disk = new InlineDisk();
const events = { prepareFolder: async () => undefined, onRetaken: () => undefined, onRetakeFailure: () => undefined };

function open(journal: string, instance = 'one', maxBytes = 1_000) {
  const lines: string[] = [];
  const spool = new FileSpool({ disk, journal, instance, maxBytes, log: createLogger((line) => lines.push(line)) });
  return { spool, lines };
}

async function takeOldest(spool: FileSpool): Promise<string[]> {
  const oldest = spool.oldest();
  const lines: string[] = [];
  for await (const some of oldest?.read() ?? []) lines.push(...some);
  await oldest?.remove();
  return lines;
}

it('records wait in the order in which they came, until they are removed', async () => {
  using folder = new TemporaryFolder();
  const { spool } = open(folder.path);
  let added = 0;
  spool.onAdded = () => added++;
  await spool.add(['{"a":1}', '{"a":2}']);
  await spool.add(['{"a":3}']);
  expect([spool.waiting, added]).toEqual([3, 2]);
  expect(await takeOldest(spool)).toEqual(['{"a":1}', '{"a":2}']);
  expect(await takeOldest(spool)).toEqual(['{"a":3}']);
  expect([spool.oldest(), spool.waiting, readdirSync(join(folder.path, 'telemetry'))]).toEqual([undefined, 0, []]);
});

it('records of a dead instance are found by the next one, and those of a living one are its own', async () => {
  using folder = new TemporaryFolder();
  await using _lock = new InstanceLock({
    disk,
    folder: folder.path,
    instance: 'alive',
    log: new MemoryLog(),
    events,
  });
  await open(folder.path, 'dead').spool.add(['{"of":"dead"}']);
  await open(folder.path, 'alive').spool.add(['{"of":"alive"}']);
  const { spool } = open(folder.path, 'next');
  let found = 0;
  spool.onAdded = () => found++;
  expect(spool.oldest()).toBeUndefined();
  await until(() => found === 1);
  expect(await takeOldest(spool)).toEqual(['{"of":"dead"}']);
  expect(spool.oldest()).toBeUndefined();
});

it('over the limit of bytes records are counted as dropped and nothing fails', async () => {
  using folder = new TemporaryFolder();
  const { spool, lines } = open(folder.path, 'one', 10);
  await spool.add(['{"a":1}', '{"a":2}']);
  expect([spool.dropped, spool.oldest()]).toEqual([2, undefined]);
  expect(lines).toEqual([expect.stringContaining('10 bytes already wait for the collector; the database has them')]);
});

it('records that the disk refuses wait in memory, are written once it takes them, and are dropped over a bound', async () => {
  using folder = new TemporaryFolder();
  const journal = join(folder.path, 'journal');
  await writeFile(journal, 'in the way');
  const { spool, lines } = open(journal, 'one', bounds.spoolMemory * 3);
  let added = 0;
  spool.onAdded = () => added++;
  await spool.add(['{"a":1}']);
  await spool.add(['{"a":2}']);
  await spool.add(['x'.repeat(bounds.spoolMemory)]);
  expect([spool.waiting, spool.dropped, added]).toEqual([2, 1, 2]);
  expect(lines).toEqual([expect.stringContaining('not sent to the collector')]);
  expect(await takeOldest(spool)).toEqual(['{"a":1}']);
  await rm(journal);
  await spool.add(['{"a":3}']);
  expect(readdirSync(join(journal, 'telemetry'))).toHaveLength(2);
  expect([await takeOldest(spool), await takeOldest(spool)]).toEqual([['{"a":2}'], ['{"a":3}']]);
  expect([spool.oldest(), readdirSync(join(journal, 'telemetry'))]).toEqual([undefined, []]);
});

it('what is in memory at the end is written for the next start', async () => {
  using folder = new TemporaryFolder();
  const journal = join(folder.path, 'journal');
  await writeFile(journal, 'in the way');
  const { spool } = open(journal);
  await spool.add(['{"a":1}']);
  await rm(journal);
  await spool[Symbol.asyncDispose]();
  expect(spool.dropped).toBe(0);
  const { spool: next } = open(journal, 'next');
  let found = 0;
  next.onAdded = () => found++;
  next.oldest();
  await until(() => found === 1);
  expect(await takeOldest(next)).toEqual(['{"a":1}']);
});
