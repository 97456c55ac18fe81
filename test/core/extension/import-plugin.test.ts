import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { importPlugin } from '#core/extension/import-plugin.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-import-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('a plugin whose top-level await never settles is given up after a deadline', async () => {
  await writeFile(join(folder, 'stuck.js'), 'await new Promise(() => {});');
  const importing = importPlugin('./stuck.js', join(folder, 'gateway.yaml'), 50);
  await expect(importing).rejects.toThrow(
    'it has not finished loading after 0.05 s; a top-level await may never settle',
  );
});
