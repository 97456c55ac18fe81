import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathOf } from './parts-fixture.ts';
import { hasCommand, runShell } from './shells.ts';

/*
 * What --dry-run shows of files with secrets. `S3cret` is a part of each of them.
 */

const part = join(import.meta.dirname, '..', '..', '..', '..', 'plugins', 'setup', 'script', 'sh', 'diff.sh');
const url = 'https://ai.example/d1a2b3c4d5e6f7a8b9c0';
const awks = ['awk', 'gawk --posix', 'mawk', 'original-awk', 'busybox awk'];

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setup-mask-'));
  for (const name of ['diff', 'sed', 'cat']) await symlink(pathOf(name), join(folder, name));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What is shown of the difference; without `before`, of all of a file. */
async function show(after: string, before?: string, awk = 'awk'): Promise<string> {
  const [program = '', ...words] = awk.split(' ');
  const start = ['#!/bin/sh', `exec ${[pathOf(program), ...words].join(' ')} "$@"`, ''];
  await rm(join(folder, 'awk'), { force: true });
  await writeFile(join(folder, 'awk'), start.join('\n'), { mode: 0o755 });
  await writeFile(join(folder, 'before'), before ?? '');
  await writeFile(join(folder, 'after'), after);
  const command = before === undefined ? 'mask part=new after' : 'show_files before after name';
  const body = `key_prefix=dp base_url=${url} plain='' bold='' work=. \nhas() { :; }\n. ${part}\n${command}`;
  const { stdout, stderr } = await runShell(['/bin/sh'], ['-c', body], {
    env: { PATH: folder, LC_ALL: 'C' },
    cwd: folder,
  });
  expect(stderr).toBe('');
  return stdout;
}

/** Lines of files, and what is shown of them. */
const cases: readonly (readonly [what: string, text: string, shown: string])[] = [
  ['a list below a name', 'api_keys = [\n  "S3cret",\n"S3cret"\n]\na = 1', 'api_keys = [\n  ***\n***\n]\na = 1'],
  ['a list of YAML', 'tokens:\n  - S3cret\n# b\n- S3cret\na: 1', 'tokens:\n  ***\n# b\n***\na: 1'],
  ['a text of YAML', 'password: |\n  S3cret\n\n  S3cret\na: 1', 'password: |\n  ***\n\n  ***\na: 1'],
  ['a table of TOML', '[auth.tokens]\ngithub = "S3cret"\n[b]\na = 1', '[auth.tokens]\n***\n[b]\na = 1'],
  ['tables of TOML', '[[api_keys]]\nvalue = "S3cret"\n[b]\na = 1', '[[api_keys]]\n***\n[b]\na = 1'],
  ['an object', '"secrets": {\n "a": "S3cret",\n "b": ["S3cret"]\n},\n"c": 1', '"secrets": {\n ***\n ***\n},\n"c": 1'],
  ['a text of TOML', 'secret = """\nS3cret\n"""\na = 1', 'secret = ***\n***\n***\na = 1'],
  ['arguments', '["--api-key", "S3cret", "--a"]', '["--api-key", ***, "--a"]'],
  [
    'members on one line',
    '{"a":{"apiKey":"S3cret"},"b":1,"list":[{"token":"S3cret" } , {"c":2}], "key":"S3cret", /* d */ "e": 3 }',
    '{"a":{"apiKey": ***},"b":1,"list":[{"token": *** } , {"c":2}], "key": ***, /* d */ "e": 3 }',
  ],
  ['the last member', '{ "e": 3, "key":"S3cret" } }\na', '{ "e": 3, "key": *** } }\na'],
  ['what is joined to a text', 'key = "S3cret"S3cret, "a"', 'key = ***'],
  ['arguments below each other', '"--token",\n"S3cret",\n"a"', '"--token",\n***\n"a"'],
  ['a line that goes on', 'export KEY=\\\nS3cret', 'export KEY=\\\n***'],
  [
    'a private key',
    '-----BEGIN X KEY-----\nS3cret\nS3cret=\n-----END X KEY-----\na',
    '-----BEGIN ***\n***\n***\n***\na',
  ],
  ['a private key in a line', '"-----BEGIN X-----\\nS3cret\\n-----END X-----"\na', '"-----BEGIN ***\na'],
  [
    'base64',
    '"TWFuIGlzIGRpc3Rpbmd1aXNo+S3cret\n  ZCwgbm90IG9ubHkgYnkgaGlz\n  S3cret="\nthe end',
    '"***\n  ***\n  ***\nthe end',
  ],
  ['a URL', 'url = "https://user:S3cret@host/x"', 'url = "https://***@host/x"'],
  ['headers', '"Bearer S3cret1", "Basic dXNlcjpTM2NyZXQ="', '"Bearer ***", "Basic ***"'],
  ['known keys', 'ghp_S3cretS3 xoxb-1-S3cret AKIAS3CRET77 eyJh.S3cret-x', '*** *** *** ***'],
  ['a UUID', 'id: 0b5e9a3c-1f2d-4c5b-8a7e-9d0c1b2a3f4e', 'id: ***'],
  ['a digest', 'sha512-abcDEF0123456789S3cret/abc+def==', '***'],
  ['no limits', '"max_tokens": 4096, "maxOutputTokens" : 32 }', '"max_tokens": 4096, "maxOutputTokens" : 32 }'],
  [
    'no names',
    '/home/ana/node_modules/x claude-sonnet-4-5-20250929',
    '/home/ana/node_modules/x claude-sonnet-4-5-20250929',
  ],
  ['no sentences', '# Basic usage of Bearer', '# Basic usage of Bearer'],
  ['nothing of ours', `${url}/v1 dp/a1b2c3d4e5f6a7b8c9d0`, `${url}/v1 dp/a1b2c3d4e5f6a7b8c9d0`],
];

/** A list of keys that is longer than what a difference shows around a change, and these lines. */
const keysThen = (last: string) =>
  `keys:\n${Array.from({ length: 12 }, (_, index) => `  - S3cret-${index}\n`).join('')}${last}`;

describe.each(awks)('with %s, a dry run', (awk) => {
  const isMissing = !hasCommand(awk.split(' ')[0] ?? '');

  it.skipIf(isMissing)('hides what is secret and nothing else', async () => {
    const files = cases.map(([, text]) => text).join('\n[end]\n');
    const shown = (await show(files, undefined, awk)).trimEnd().split('\n[end]\n');
    for (const [index, [what, , expected]] of cases.entries()) expect(shown[index], what).toBe(expected);
  });

  it.skipIf(isMissing)('knows what a line belongs to when the difference does not show it', async () => {
    const shown = await show(keysThen('model: new\nkey: S3cret-b\n'), keysThen('model: old\nkey: S3cret-a'), awk);
    expect(shown).toBe(
      [
        '\n--- name\n@@ -11,5 +11,5 @@',
        ' ***\n ***\n ***'.replaceAll(' ***', '   ***'),
        '-model: old\n-key: ***\n\\ No newline at end of file\n+model: new\n+key: ***\n',
      ].join('\n'),
    );
  });
});
