import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { FileAction } from '../../../../plugins/setup/script/describe-actions.ts';
import { createScriptData, type ScriptData } from '../../../../plugins/setup/script/script-data.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from '../fixture.ts';
import { testKey } from './parts-fixture.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { hasCommand, type Shell, shells } from './shells.ts';

/*
 * The whole table of tools in one home.
 */

const models = [
  modelOf('large', ['messages', 'chat', 'responses'], { maxInputTokens: 200_000, maxOutputTokens: 32_000 }),
  modelOf('mini', ['chat']),
];
const { tools, models: listed, defaults } = createScriptData(setupHost(models), registry) as ScriptData;
const ids = tools.map(({ id }) => id).join(',');

/** The first path of every file of the table, with its format. */
const files = tools
  .flatMap(({ variants }) => variants[0]?.actions ?? [])
  .filter((action): action is FileAction => action.kind === 'file')
  .map(({ path, format, text }) => ({ path: path.split('|')[0]!.slice(2), format, text }));

/** Settings of somebody, as each format has them. */
const existing: Readonly<Record<FileAction['format'], (text: string) => string>> = {
  json: (text) =>
    text.startsWith('[')
      ? '[\n    { "model_id": "mine" }\n]\n'
      : '{\r\n\t"mine": { "a": [1,2 ] },\r\n\t"z": null\r\n}\r\n',
  toml: () => '# mine\nmodel = "mine" # keep\n\n[mine]\na = 1',
  yaml: (text) => (text.startsWith('-') ? '- model_id: mine # keep\n' : '# mine\nmine:\n  a: 1 # keep\n'),
  block: () => 'first\nlast',
  text: () => 'mine\n',
};

let sandbox: Sandbox | undefined;

afterEach(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  sandbox = undefined;
});

const shell = shells.find(({ command }) => hasCommand(command[0])) as Shell;
it('every tool is set up in an empty home and taken back', async () => {
  sandbox = await createSandbox({ shell, tools, data: { models: listed, defaults } });
  const { run, read, snapshot } = sandbox;
  const before = await snapshot();
  const result = await run(`--yes --tools ${ids}`);
  expect(result, result.stdout).toMatchObject({ status: 0, stderr: '' });
  for (const { path } of files.filter((file) => file.text.includes('@KEY@')))
    expect(await readFirst(path, read)).toContain(testKey);
  const after = await snapshot();
  expect((await run('--yes')).stdout).not.toContain('written');
  expect(await snapshot()).toStrictEqual(after);
  expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
  expect(await snapshot()).toStrictEqual(before);
});

it('every tool is set up in an empty home without a runtime, and taken back by a run with one', async () => {
  sandbox = await createSandbox({ shell, tools, data: { models: listed, defaults }, helper: 'none' });
  const { folder, run, read, snapshot } = sandbox;
  const before = await snapshot();
  const result = await run(`--yes --tools ${ids}`);
  expect(result, result.stdout).toMatchObject({ status: 0, stderr: '' });
  expect(result.stdout.match(/ written {2}/g)).toHaveLength(tools.length + 1);
  for (const { path } of files.filter((file) => file.text.includes('@KEY@')))
    expect(await readFirst(path, read)).toContain(testKey);
  await symlink(process.execPath, join(folder, 'bin/node'));
  expect((await run('--yes')).stdout).not.toMatch(/manual|failed|skipped/);
  expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
  expect(await snapshot()).toStrictEqual(before);
});

it('without a runtime, every file of settings that exists stays as it is, and what to put into it is shown', async () => {
  sandbox = await createSandbox({ shell, tools, data: { models: listed, defaults }, helper: 'none' });
  const { run, write, snapshot } = sandbox;
  for (const { path, format, text } of files) await write(path, existing[format](text), 0o644);
  const before = await snapshot();
  const result = await run(`--yes --tools ${ids}`);
  expect(result).toMatchObject({ status: 0, stderr: '' });
  const byHand = [...result.stdout.matchAll(/^Put these settings into \S+?\/home\/(.*) \(\w+\),/gm)].map(
    ([, path]) => path,
  );
  const merged = files.filter(({ format }) => format !== 'block').map(({ path }) => path);
  expect(byHand.toSorted()).toEqual(merged.toSorted());
  expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
  expect(await snapshot()).toStrictEqual(before);
});

it('folders of the user stay, even empty ones, when the files of every tool go', async () => {
  sandbox = await createSandbox({ shell, tools, data: { models: listed, defaults } });
  const { home, run, snapshot } = sandbox;
  for (const path of [...files.map((file) => dirname(file.path)), '.config/daypass', '.config/fish/conf.d'])
    await mkdir(join(home, path), { recursive: true });
  const before = await snapshot();
  for (const SHELL of ['/bin/fish', '/bin/zsh']) {
    const result = await run(`--yes --tools ${ids}`, { SHELL });
    expect(result, result.stdout).toMatchObject({ status: 0, stderr: '' });
  }
  expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
  expect(await snapshot()).toStrictEqual(before);
});

it('every tool keeps the settings of its user, byte for byte after --undo', async () => {
  sandbox = await createSandbox({ shell, tools, data: { models: listed, defaults } });
  const { home, run, write, snapshot } = sandbox;
  for (const { path, format, text } of files) await write(path, existing[format](text), 0o644);
  await write('.profile', 'export A=1\r\n');
  await symlink('.profile', join(home, '.bashrc'));
  const before = await snapshot();
  const result = await run(`--yes --tools ${ids}`);
  expect(result, result.stdout).toMatchObject({ status: 0, stderr: '' });
  const after = await snapshot();
  expect((await run(`--yes --tools ${ids}`)).stdout).not.toContain('written');
  expect(await snapshot()).toStrictEqual(after);
  const changed = await run(`--yes`, { DAYPASS_API_KEY: testKey.replaceAll('A', 'B') });
  expect(changed, changed.stdout).toMatchObject({ status: 0, stderr: '' });
  expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
  expect(await snapshot()).toStrictEqual(before);
});

/** The file at one of the paths. */
async function readFirst(path: string, read: (path: string) => Promise<string>): Promise<string> {
  return read(path).catch(() => read(path.replace(/c$/, '')));
}
