import { existsSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSandbox, sampleTool, type Sandbox, type SandboxOptions } from './sandbox.ts';
import { shellsInTurn } from './shells.ts';

/*
 * The branches for macOS, on any machine: `uname` prints Darwin.
 */

const turns = shellsInTurn();
const uname = '#!/bin/sh\necho Darwin\n';
const withTools = '#!/bin/sh\necho /Library/Developer/CommandLineTools\n';
const withoutTools = '#!/bin/sh\nexit 2\n';
const config = 'model = "old"\n';
const bash = { SHELL: '/bin/bash' };

let sandbox: Sandbox;

async function open({ programs, ...options }: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  sandbox = await createSandbox({ shell: turns.next().value, programs: { uname, ...programs }, ...options });
  return sandbox;
}

afterEach(() => sandbox[Symbol.asyncDispose]());

describe('the profile of bash on macOS', () => {
  it.each([
    ['.profile', ['.profile']],
    ['.bash_login', ['.bash_login', '.profile']],
    ['.bash_profile', ['.bash_profile', '.bash_login', '.profile']],
    ['.bash_profile', []],
  ])('is %s, where there are %j, so that bash reads what it read before', async (expected, existing) => {
    const { home, run, write, read, snapshot } = await open();
    for (const name of existing) await write(name, 'A=1\n');
    const before = await snapshot();
    expect(await run('--yes --tools liner', bash)).toMatchObject({ status: 0, stderr: '' });
    expect(await read('.bashrc')).toContain('>>> daypass >>>');
    expect(await read(expected)).toContain('>>> daypass >>>');
    const others = ['.bash_profile', '.bash_login', '.profile'].filter((name) => name !== expected);
    for (const name of others) {
      expect(existsSync(join(home, name)), name).toBe(existing.includes(name));
      if (existing.includes(name)) expect(await read(name)).toBe('A=1\n');
    }
    expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
    expect(await snapshot()).toStrictEqual(before);
  });
});

it('a tool that has its files elsewhere on macOS is set up there, in a folder with a space', async () => {
  const mac = sampleTool('mac', [
    { kind: 'place', variable: 'MAC_HOME', folder: '~/.config/mac' },
    { kind: 'place', variable: 'MAC_HOME', folder: '~/Library/Application Support/mac' },
    { kind: 'file', format: 'text', path: '~/.config/mac/a', macos: '~/Library/Application Support/mac/a', text: 'x' },
  ]);
  const { home, run, read, snapshot } = await open({ tools: [mac], commands: ['mac'] });
  const before = await snapshot();
  expect(await run('--yes')).toMatchObject({ status: 0, stderr: '' });
  expect(await read('Library/Application Support/mac/a')).toBe('x\n');
  expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
  expect(await run('--yes --tools mac', { MAC_HOME: join(home, 'else where') })).toMatchObject({ status: 0 });
  expect(await read('else where/a')).toBe('x\n');
  await run('--undo --yes');
  expect(await snapshot()).toStrictEqual(before);
});

describe('python3 of macOS without its developer tools, which opens a dialog', () => {
  const marker = '#!/bin/sh\n: >"$HOME/started"\nexit 0\n';

  it('is not started behind a shim of a version manager, neither to merge nor to send', async () => {
    const { folder, home, run, write } = await open({ helper: 'none', programs: { 'xcode-select': withoutTools } });
    const shims = join(folder, 'shims');
    await mkdir(shims);
    await writeFile(join(shims, 'python3'), marker, { mode: 0o755 });
    await write('.merger/config.toml', config);
    const environment = { PATH: `${shims}:${join(folder, 'bin')}` };
    expect((await run('--yes --tools merger', environment)).stdout).toMatch(/Tool merger +manual /);
    await rm(join(folder, 'bin', 'curl'), { force: true });
    expect((await run('--yes --tools merger', environment)).stderr).toContain('No program that can send a request');
    expect(existsSync(join(home, 'started'))).toBe(false);
    await writeFile(join(folder, 'bin', 'xcode-select'), withTools);
    await run('--yes --tools merger', environment);
    expect(existsSync(join(home, 'started'))).toBe(true);
  });

  it.skipIf(!existsSync('/usr/bin/python3')).each([
    ['manual', 'without', withoutTools],
    ['written', 'with', withTools],
  ])('is %s at the end of a link %s the developer tools', async (verdict, _, xcodeSelect) => {
    const { folder, run, write } = await open({ helper: 'none', programs: { 'xcode-select': xcodeSelect } });
    await symlink('/usr/bin/python3', join(folder, 'bin', 'python3'));
    await write('.merger/config.toml', config);
    expect((await run('--yes --tools merger')).stdout).toMatch(new RegExp(`Tool merger +${verdict} `));
  });
});
