import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maskCases as cases, maskUrl as url } from './mask-cases.ts';
import { pathOf } from './parts-fixture.ts';
import { hasCommand, runShell } from './shells.ts';

/*
 * What --dry-run shows of files with secrets. `S3cret` is a part of each of them.
 */

const part = join(import.meta.dirname, '..', '..', '..', '..', 'plugins', 'setup', 'script', 'sh', 'diff.sh');
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
