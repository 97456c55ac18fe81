import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readCachedYaml } from '../../../plugins/setup/cached-yaml.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-yaml-'));
  file = join(folder, 'rows.yaml');
  await writeFile(file, 'tool: { day: 2026-11-28, since: 2 }');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const findCached = async () => (await readdir(folder)).find((name) => name !== 'rows.yaml') ?? '';
const rows = { tool: { day: '2026-11-28', since: 2 } };

it('a YAML file is parsed once, and read from its JSON afterwards', async () => {
  expect(readCachedYaml(file, folder)).toEqual(rows);
  const cached = await findCached();
  expect(cached).toMatch(/^rows\.yaml-[0-9a-f]{64}\.json$/);
  await writeFile(join(folder, cached), '"from the cache"');
  expect(readCachedYaml(file, folder)).toBe('from the cache');
});

it('a YAML file that has changed is parsed again', async () => {
  readCachedYaml(file, folder);
  await writeFile(file, 'tool: changed');
  expect(readCachedYaml(file, folder)).toEqual({ tool: 'changed' });
});

it('a cached JSON that a crash has cut short is replaced', async () => {
  readCachedYaml(file, folder);
  const cached = await findCached();
  await writeFile(join(folder, cached), '{"tool":');
  expect(readCachedYaml(file, folder)).toEqual(rows);
  expect(JSON.parse(await readFile(join(folder, cached), 'utf8'))).toEqual(rows);
});

it('a YAML file is parsed where nothing can be cached', () => {
  expect(readCachedYaml(file, undefined)).toEqual(rows);
  expect(readCachedYaml(file, join(folder, 'missing'))).toEqual(rows);
});
