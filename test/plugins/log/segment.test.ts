import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { readSegment } from '../../../plugins/log/segment.ts';
import { TemporaryFolder } from './fixture.ts';
import { InlineDisk } from './inline-disk.ts';

const disk = new InlineDisk();

it('a line over the bound is read in pieces, each byte once', async () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'test-00000001.ndjson');
  const line = 'x'.repeat(3 * bounds.journalLine);
  writeFileSync(path, `${line}\n{"at":"end"}\n`);
  const lines = (await Array.fromAsync(readSegment(disk, path))).flat();
  expect(lines.join('')).toBe(`${line}{"at":"end"}`);
  expect(lines).toContain('{"at":"end"}');
});

it('a folder at the path of a segment is reported as unreadable', async () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'test-00000001.ndjson');
  mkdirSync(path);
  await expect(Array.fromAsync(readSegment(disk, path))).rejects.toMatchObject({
    isPermanent: true,
    message: expect.stringMatching(/^.*test-00000001\.ndjson cannot be read: EISDIR/) as string,
  });
});
