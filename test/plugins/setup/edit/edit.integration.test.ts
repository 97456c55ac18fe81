import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasCommand, pathOf } from '../programs.ts';
import { type HelperProcess, type HelperRun, startHelper } from './helper-process.ts';

const sources = join(import.meta.dirname, '../../../../plugins/setup/script/edit');
const settings = '{\n  "env": {\n    "KEY": "k"\n  }\n}\n';
/** Settings of which the first three are only for a new file. */
const wantedWith = (key: string) =>
  `name: "Ours"\nversion: "1"\nschema: "v1"\nmodels:\n  - id: "m"\n    key: "${key}"\n`;
let root = '';
let folders = 0;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'edit-'));
});
afterAll(() => rmSync(root, { recursive: true }));

describe.each([
  { language: 'Node.js', program: 'node', options: [], script: join(sources, 'edit.mjs') },
  { language: 'Python', program: 'python3', options: ['-E', '-S'], script: join(sources, 'edit.py') },
] as const)('the editing helper in $language', ({ program, options, script }) => {
  const test = it.skipIf(!hasCommand(program));
  let helper: HelperProcess;
  beforeAll(() => {
    helper = startHelper(program);
  });
  afterAll(() => helper.stop());

  /** Starts the helper as the script does; without -B, because it must not leave bytecode anyway. */
  function start(words: readonly string[]): HelperRun {
    const { status, stdout, stderr } = spawnSync(pathOf(program), [...options, script, ...words], { encoding: 'utf8' });
    return { status, stdout, stderr };
  }

  /** A folder with these files, and the helper on it. */
  function work(files: Readonly<Record<string, string | Buffer>>, format = 'json') {
    const folder = join(root, String(folders++));
    mkdirSync(folder);
    write(folder, files);
    return {
      run: (command: string, ...more: string[]) => helper.run([script, command, format, folder, ...more]),
      startOnce: (command: string) => start([command, format, folder]),
      read: (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined),
      write: (changed: Readonly<Record<string, string>>) => write(folder, changed),
      remove: (name: string) => rmSync(join(folder, name)),
    };
  }

  test('makes a missing file of the settings, and removes it again', () => {
    const { startOnce: run, read, write: change, remove } = work({ wanted: settings, before: 'old \0', after: 'old' });

    expect(run('apply')).toEqual({ status: 0, stdout: '', stderr: '' });
    expect([read('after'), read('before')]).toEqual([settings, undefined]);

    change({ current: settings, previous: settings });
    remove('wanted');
    expect(run('remove')).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(read('after')).toBeUndefined();
  });

  test.each([
    {
      format: 'json',
      file: '[\n  {"id": "n"}\n]\n',
      wanted: '[\n  {\n    "id": "m",\n    "key": "k"\n  }\n]\n',
      other: ['"k"', '"k2"'],
    },
    { format: 'yaml', file: '- id: "n"\n', wanted: '- id: "m"\n  key: "k"\n', other: ['"k"', '"k2"'] },
  ] as const)('takes no entry of ours in $format for the user’s, though it was changed', async (one) => {
    const { format, file, wanted, other } = one;
    const { run, read, write: change } = work({ current: file, wanted }, format);
    await run('apply', '--identity', 'id;-');
    const first = read('after') ?? '';
    change({ current: first.replace(...other), previous: wanted });
    await run('apply', '--identity', 'id;-');
    expect([read('after'), read('before')]).toEqual([first, file]);
  });

  test('keeps the file without the settings beside the file with them, run after run', async () => {
    const file = '{\r\n\t"env": {}, // mine\r\n}';
    const { run, read, write: change } = work({ current: file, wanted: settings });
    await run('apply');
    const first = read('after') ?? '';
    expect([first, read('before')]).toEqual(['{\r\n\t"env": {\r\n\t\t"KEY": "k"\r\n\t}, // mine\r\n}', file]);

    change({ current: first, previous: settings });
    await run('apply');
    expect([read('after'), read('before')]).toEqual([first, file]);

    change({ current: first.replace('}, // mine', '}, // mine\r\n\t"more": 1'), previous: settings });
    await run('remove');
    expect(read('after')).toBe('{\r\n\t"env": {}, // mine\r\n\t"more": 1\r\n}');
  });

  test('changes a setting in its place, and takes out those that are no longer wanted', async () => {
    const { run, read } = work({
      current: '{\n  "env": {\n    "OLD": "o",\n    "KEY": "k", // ours\n    "A": "1"\n  }\n}\n',
      previous: '{ "env": { "OLD": "o", "KEY": "k" } }',
      before: '{\n  "env": {}\n}\n',
      wanted: '{ "env": { "KEY": "k2" } }',
    });

    expect((await run('apply')).status).toBe(0);
    expect(read('after')).toBe('{\n  "env": {\n    "KEY": "k2", // ours\n    "A": "1"\n  }\n}\n');
    expect(read('before')).toBe('{\n  "env": { // ours\n    "A": "1"\n  }\n}\n');
  });

  test('takes over a value that the user changed, and brings it back', async () => {
    const {
      run,
      read,
      write: change,
    } = work({
      current: '{"env":{"KEY":"mine","OLD":"mine"}}',
      previous: '{"env":{"KEY":"k","OLD":"o"}}',
      wanted: settings,
    });
    expect(await run('apply')).toEqual({ status: 0, stdout: 'env.OLD\n', stderr: '' });
    expect(read('after')).toBe('{"env":{"KEY":"k","OLD":"mine"}}');

    change({ current: '{"env":{"KEY":"k","OLD":"mine"}}', previous: settings });
    await run('remove');
    expect(read('after')).toBe('{"env":{"KEY":"mine","OLD":"mine"}}');
  });

  test('names settings that it leaves alone or misses, without their values', async () => {
    const wanted = '{ "env": { "KEY": "k", "a\\u001b[2J\\n": 1 } }';
    const { run, read } = work({ current: '{"env":{"KEY":"secret"}}', wanted, previous: wanted });

    expect(await run('check')).toEqual({ status: 0, stdout: 'env.KEY\nenv.a?[2J?\n', stderr: '' });
    expect(await run('remove')).toEqual({ status: 0, stdout: 'env.KEY\n', stderr: '' });
    expect(read('after')).toBe('{"env":{"KEY":"secret"}}');
  });

  test('leaves initial members of a file as they are, and puts them into a new one', async () => {
    const members = ['--identity', 'id;name,version,schema', '--at', 'start'];
    const file = '\uFEFFname : Mine # mine\n"version": 2\nmodels:\n  - id: a\n';
    const old = work({ current: file, wanted: wantedWith('k') }, 'yaml');
    expect(await old.run('apply', ...members)).toEqual({ status: 0, stdout: '', stderr: '' });
    const merged =
      '\uFEFFname : Mine # mine\n"version": 2\nmodels:\n  - id: "m"\n    key: "k"\n  - id: a\nschema: "v1"\n';
    expect([old.read('after'), old.read('before')]).toEqual([merged, file]);

    old.write({ current: merged, previous: wantedWith('k') });
    expect([(await old.run('apply', ...members)).stdout, old.read('after')]).toEqual(['', merged]);
    expect(await old.run('check', ...members)).toEqual({ status: 0, stdout: '', stderr: '' });
    expect([(await old.run('remove', ...members)).stdout, old.read('after')]).toEqual(['', file]);

    const made = work({ wanted: wantedWith('k') }, 'yaml');
    await made.run('apply', ...members);
    expect([made.read('after'), made.read('before')]).toEqual([wantedWith('k'), undefined]);
    made.write({ current: wantedWith('k'), previous: wantedWith('k'), wanted: wantedWith('k2') });
    await made.run('apply', ...members);
    expect([made.read('after'), made.read('before')]).toEqual([wantedWith('k2'), undefined]);
    made.write({ current: wantedWith('k2').replace('Ours', 'Renamed'), previous: wantedWith('k2') });
    expect(await made.run('remove', ...members)).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(made.read('after')).toBe('name: "Renamed"\n');
  });

  test('recognises the entries of a list, at its start or its end', async () => {
    const current = '[{"id":"a"},{"id":"m","x":1}]';
    const { run, read } = work({ current, wanted: '[{"id":"n"},{"id":"m"}]' });

    await run('apply', '--identity', 'id', '--at', 'start');
    expect(read('after')).toBe('[{"id":"n"},{"id":"a"},{"id":"m","x":1}]');
    await run('apply', '--identity', 'id', '--at', '-');
    expect(read('after')).toBe('[{"id":"a"},{"id":"m","x":1},{"id":"n"}]');
    expect((await run('apply', '--identity', '-')).stderr).toBe(
      'The settings must be an object, or a list of objects with an identity.\n',
    );
  });

  test.each([
    {
      file: 'not JSON',
      current: '{\n  "KEY": secret }',
      stderr: 'line 2, column 10: A value is missing or not valid.\n',
    },
    { file: 'not UTF-8', current: Buffer.from([0x7b, 0xff, 0x7d]), stderr: 'The file is not valid UTF-8.\n' },
    { file: 'binary', current: '{"a":"\0"}', stderr: 'The file contains a NUL character.\n' },
    { file: 'too large', current: `{}${' '.repeat(1024 * 1024)}`, stderr: 'The file is larger than 1 MB.\n' },
  ])('refuses a file that is $file with status 2, and writes nothing', async ({ current, stderr }) => {
    const { startOnce, run, read } = work({ current, wanted: settings, previous: settings });

    expect(startOnce('apply')).toEqual({ status: 2, stdout: '', stderr });
    for (const command of ['remove', 'check']) expect(await run(command)).toEqual({ status: 2, stdout: '', stderr });
    expect([read('after'), read('before')]).toEqual([undefined, undefined]);
  });

  test('fails with status 1 where the settings are missing', async () => {
    const stderr = 'The files of the editing helper cannot be read or written.\n';

    expect(work({ current: '{}' }).startOnce('apply')).toEqual({ status: 1, stdout: '', stderr });
  });

  test.each([
    { words: [] },
    { words: ['apply', 'ini', 'WORK'] },
    { words: ['change', 'json', 'WORK'] },
    { words: ['apply', 'json', 'WORK', '--identity'] },
    { words: ['apply', 'json', 'WORK', '--at', 'top'] },
  ])('refuses the arguments $words with status 1 and its usage', ({ words }) => {
    const { status, stdout, stderr } = start(words);

    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^Usage: .*\n$/);
  });

  test('leaves nothing in the folder of the script', async () => {
    const earlier = readdirSync(sources);

    work({ wanted: settings }).startOnce('check');

    expect(readdirSync(sources)).toEqual(earlier);
  });
});

function write(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}
