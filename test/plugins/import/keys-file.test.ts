import { fstatSync, readFileSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { KeysFile } from '../../../plugins/import/users/keys-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-keys-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

const line = { user: '2', email: 'ani@example.com', account: undefined, key: 'dp-first' };

it('an import syncs the folder of a file with keys before it makes their accounts, so that the name is on the disk', async () => {
  const path = join(folder, 'keys.csv');
  const file = await KeysFile.create(path);
  const synced: (readonly [kind: 'file' | 'folder', text: string])[] = [];
  await using any = await open(folder);
  const handles = Object.getPrototypeOf(any) as FileHandle;
  const { sync } = handles;
  vi.spyOn(handles, 'sync').mockImplementation(function syncAndNote(this: FileHandle) {
    synced.push([fstatSync(this.fd).isDirectory() ? 'folder' : 'file', readFileSync(path, 'utf8')]);
    return sync.call(this);
  });
  await file.writeProposed([line]);
  await file.writeSettled([{ ...line, account: 'a1' }]);
  const head = 'user,email,account,key\n';
  const [proposed, settled] = [`${head}2,ani@example.com,,dp-first\n`, `${head}2,ani@example.com,a1,dp-first\n`];
  expect(synced).toEqual([
    ['file', head],
    ['folder', proposed],
    ['file', proposed],
    ['folder', settled],
  ]);
});
