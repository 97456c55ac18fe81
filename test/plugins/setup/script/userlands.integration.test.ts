import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { pathOf } from './parts-fixture.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { hasCommand, runsEverywhere, shellsInTurn } from './shells.ts';

/*
 * Programs that differ between systems: each test runs the whole script with those of one of them.
 */

const turns = shellsInTurn();
const config = '# mine\nmodel = "old" # keep\napi_key = "abc"\n';
let sandbox: Sandbox;

afterEach(() => sandbox[Symbol.asyncDispose]());

/** A program in the place of another one. */
function startOf(command: string): string {
  const [program = '', ...args] = command.split(' ');
  return `#!/bin/sh\nexec ${[pathOf(program), ...args].join(' ')} "$@"\n`;
}

/** The names that this program has an implementation of. */
function appletsOf(program: string): ReadonlySet<string> {
  const { stdout } = spawnSync(program, program === 'busybox' ? ['--list'] : [], { encoding: 'utf8' });
  return new Set(stdout.split(/\s+/));
}

const names =
  'awk cat chmod cmp cp cut date dd diff grep head id ls mkdir mktemp mv printf readlink rm rmdir sed tail tr wc';

/** All programs of a multi-call binary. */
function userland(program: string): Record<string, string> {
  const applets = appletsOf(program);
  const there = names.split(' ').filter((name) => applets.has(name));
  return Object.fromEntries(there.map((name) => [name, startOf(`${program} ${name}`)]));
}

/** `wc` pads its numbers, `ls -l` marks extended attributes, `grep -f` takes an empty line for a match of every line. */
function macosPrograms(): Record<string, string> {
  return {
    wc: `#!/bin/sh\n${pathOf('wc')} "$@" | ${pathOf('sed')} 's/^/       /'\n`,
    ls: `#!/bin/sh\n${pathOf('ls')} "$@" | ${pathOf('sed')} 's/^\\([-dlrwxst]\\{10\\}\\) /\\1@ /'\n`,
    grep: `#!/bin/sh\ncase " $*" in *' -f '*) exit 1 ;; esac\nexec ${pathOf('grep')} "$@"\n`,
  };
}

type Userland = readonly [name: string, program: string, programs: () => Record<string, string>];

const rareUserlands: readonly Userland[] = [
  ['mawk', 'mawk', () => ({ awk: startOf('mawk') })],
  ['gawk as POSIX wants it', 'gawk', () => ({ awk: startOf('gawk --posix') })],
  ['toybox', 'toybox', () => userland('toybox')],
];

const userlands: readonly Userland[] = [
  ['the awk of macOS', 'original-awk', () => ({ awk: startOf('original-awk') })],
  ['BusyBox', 'busybox', () => userland('busybox')],
  ['the formats of macOS', 'sh', macosPrograms],
  ...(runsEverywhere ? rareUserlands : []),
];

describe.each(userlands)('with %s', (_, program, programsOf) => {
  const isMissing = !hasCommand(program);

  it.skipIf(isMissing)(
    'setup.sh masks secrets, sets up, changes nothing the second time, and takes it back',
    async () => {
      sandbox = await createSandbox({ shell: turns.next().value, programs: programsOf() });
      const { run, write, read, snapshot } = sandbox;
      await write('.merger/config.toml', config, 0o640);
      await write('.bashrc', 'export A=1', 0o644);
      const before = await snapshot();
      const dry = await run('--dry-run');
      expect(dry).toMatchObject({ status: 0, stderr: '' });
      expect(dry.stdout).toContain('\n-model = "old" # keep\n+model = "dp/demo" # keep\n');
      expect(dry.stdout).toContain('\n api_key = ***\n');
      expect(await snapshot()).toStrictEqual(before);
      expect(await run('--yes')).toMatchObject({ status: 0, stderr: '' });
      const after = await snapshot();
      expect((await run('--yes')).stdout).toMatch(/merger +unchanged\n.*liner +unchanged\n.*whole +unchanged\n/);
      expect(await snapshot()).toStrictEqual(after);
      await write('.bashrc', `${await read('.bashrc')}more\n`);
      expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
      expect(await read('.bashrc')).toBe('export A=1\nmore\n');
    },
  );

  it.skipIf(isMissing)('variables of the user with a backslash reach fish, and new ones are reported', async () => {
    sandbox = await createSandbox({ shell: turns.next().value, programs: programsOf() });
    const { run, write, read } = sandbox;
    await write('.config/daypass/env', "\nexport MINE='a\\b'\\''c'\n", 0o600);
    const result = await run('--yes --tools environment', { SHELL: '/usr/bin/fish' });
    expect(result).toMatchObject({ status: 0, stderr: '' });
    expect(result.stdout).toMatch(/Tool environment +written /);
    expect(await read('.config/fish/conf.d/daypass.fish')).toContain("set -gx MINE 'a\\\\b\\'c'\n");
  });
});

it.skipIf(!hasCommand('posh'))('a shell without character classes is refused', async () => {
  sandbox = await createSandbox({ shell: { name: 'posh', command: ['posh'] } });
  const message = 'This shell does not know patterns such as [[:space:]]. Run the script with sh, dash or bash.\n';
  expect(await sandbox.run('--yes')).toStrictEqual({ status: 1, stdout: '', stderr: message });
});

it.skipIf(!hasCommand('yash'))('yash finds the records of the run before', async () => {
  sandbox = await createSandbox({
    shell: { name: 'yash', command: ['yash'] },
    // It runs its own, but only where PATH has one.
    programs: { '[': startOf('[') },
  });
  const { run, write, snapshot } = sandbox;
  // In the C locale, it reads no script with characters beyond ASCII.
  const environment = { LC_ALL: 'C' };
  await write('.merger/config.toml', config);
  const before = await snapshot();
  expect(await run('--yes', environment)).toMatchObject({ status: 0, stderr: '' });
  const after = await snapshot();
  expect(await run('--yes', environment)).toMatchObject({ status: 0, stderr: '' });
  expect(await snapshot()).toStrictEqual(after);
  expect(await run('--undo --yes', environment)).toMatchObject({ status: 0, stderr: '' });
  expect(await snapshot()).toStrictEqual(before);
});
