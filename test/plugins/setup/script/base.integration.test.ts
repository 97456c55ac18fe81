import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInShells, runShell } from './shells.ts';

const source = join(import.meta.dirname, '..', '..', '..', '..', 'plugins', 'setup', 'script', 'sh', 'base.sh');
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setup-base-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describeInShells('base.sh', ({ name, command }) => {
  async function run(body: string) {
    const temporary = await mkdtemp(join(folder, 'tmp-'));
    const script = join(temporary, '..', `${name.replaceAll(' ', '')}-${Math.random()}.sh`);
    const head = `set -u\nslug=daypass\n[ -n "\${ZSH_VERSION-}" ] && emulate sh\n${await readFile(source, 'utf8')}`;
    await writeFile(script, `${head}\n${body}\n`);
    const result = await runShell(command, [script], { env: { PATH: process.env['PATH'], TMPDIR: temporary } });
    return { ...result, leftovers: await readdir(temporary) };
  }

  test('removes its temporary folder after a failure, and keeps the status', async () => {
    const result = await run('start_base; ls -ld "$work" | cut -c1-10; (exit 3); fail "It failed."; say never');
    expect(result).toStrictEqual({ status: 1, stdout: 'drwx------\n', stderr: 'It failed.\n', leftovers: [] });
  });

  test('says that a disk is full, in words', async () => {
    const body = `start_base; reason=$({ printf x >/dev/full; } 2>&1); last_words "$reason"`;
    const { stdout } = await run(body);
    expect(stdout).toMatch(
      /^(No space left on device|no space left on device|it cannot be written; the disk may be full)\n$/,
    );
  });

  test('removes the temporary folder of a run that was killed, and no other', async () => {
    const body = `start_base; d=$TMPDIR; rm -rf "$work"
sh -c : & ended=$!; wait "$ended"
mkdir "$d/daypass-setup.$ended.abcdef" "$d/daypass-setup.$$.abcdef" "$d/daypass-setup.x.abcdef" "$d/other"
ln -s other "$d/daypass-setup.$ended.linked"
remove_dead_folders
for path in "$d"/*; do say "\${path##*/}"; done | sed "s/$ended/ENDED/; s/\\.$$\\./.ALIVE./"
rm -rf "$d"/daypass-setup.* "$d/other"`;
    const { stdout, stderr } = await run(body);
    expect({ lines: stdout.trim().split('\n').toSorted(), stderr }).toStrictEqual({
      lines: ['daypass-setup.ALIVE.abcdef', 'daypass-setup.ENDED.linked', 'daypass-setup.x.abcdef', 'other'],
      stderr: '',
    });
  });

  test('an interruption removes what was to replace a file, the lock and the temporary folder', async () => {
    const body =
      'start_base; d=$TMPDIR; pending=$d/pending lock=$d/lock; mkdir "$lock"; : >"$pending"; : >"$lock/pid"; kill -s TERM $$; say never';
    expect(await run(body)).toStrictEqual({ status: 130, stdout: '', stderr: '', leftovers: [] });
  });

  test('cannot ask without a terminal, and writes no colours and no control characters', async () => {
    const body =
      'start_base; has_terminal || say none; ask_hidden "Key?" || say hidden; make_printable "a${NL}b${TAB}é"; warn "$printable"';
    expect(await run(body)).toStrictEqual({ status: 0, stdout: 'none\nhidden\n', stderr: 'a?b?é\n', leftovers: [] });
  });
});
