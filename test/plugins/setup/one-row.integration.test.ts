import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { shown as example } from './print-example.ts';

const root = join(import.meta.dirname, '..', '..', '..');

let folder: string;
let shown: typeof example;

/** A copy of this repository that differs in one row: the example of docs/setup.md is among the tools. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-one-row-'));
  const helpers = ['fixture.ts', 'docs-tables.ts', 'print-example.ts'].map((name) => `test/plugins/setup/${name}`);
  const copied = ['plugins/setup', 'test/tools/clis.ts', ...helpers];
  for (const path of copied) await cp(join(root, path), join(folder, path), { recursive: true });
  for (const path of ['core', 'views', 'node_modules', 'package.json', 'plugins/format', 'test/plugins/format'])
    await link(path);
  const docs = await readFile(join(root, 'docs', 'setup.md'), 'utf8');
  const [, text = ''] = /^## Add a tool\n[^]*?```yaml\n([^]*?)```/m.exec(docs) ?? [];
  const table = join(folder, 'plugins/setup/tools.yaml');
  await writeFile(
    table,
    (await readFile(table, 'utf8')).replace(/^editors:\n/m, (editors) => `${text}\n${editors}`),
  );
  const options = { cwd: folder, maxBuffer: 16 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(process.execPath, ['test/plugins/setup/print-example.ts'], options);
  shown = JSON.parse(stdout) as typeof shown;
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function link(path: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await symlink(join(root, path), join(folder, path));
}

it('a tool that is one row is listed in its group, and its settings are on the page', () => {
  const place = shown.ids.indexOf('example');
  expect(shown.ids.slice(place - 1, place + 2)).toEqual(['qwen-code', 'example', 'continue']);
  expect(JSON.stringify(shown.page.steps[0])).toContain('~/.example/settings.json');
});

it('a tool that is one row is set up by both scripts', () => {
  expect(shown.shell).toContain('"id":"example"');
  expect(shown.shell).toContain("'~/.example/settings.json'");
  expect(shown.powershell).toContain('%USERPROFILE%\\\\.example\\\\settings.json');
});

it('a tool that is one row has its rows in the tables that the test of docs/setup.md demands', () => {
  expect(shown.settings).toContain(
    '| `example` | Example 1.2.3 | Chat Completions | `~/.example/settings.json` (`EXAMPLE_HOME`) | `DAYPASS_API_KEY` |',
  );
  expect(shown.tried).toContain('| Example | `example-cli` 1.2.3 | 22 November 2026 |');
});

it('a tool that is one row is installed and tried by npm run test:tools', () => {
  expect(shown.cli).toMatchObject({
    id: 'example',
    version: '1.2.3',
    command: 'example',
    words: ['-p', 'Hello', '--yes'],
  });
});
