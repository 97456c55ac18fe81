import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSandbox, sampleTool, type Sandbox, type SandboxOptions } from './sandbox.ts';
import { shellsInTurn } from './shells.ts';

/*
 * The branches for macOS, on any machine: `uname` prints Darwin.
 */

const turns = shellsInTurn();
const uname = '#!/bin/sh\necho Darwin\n';
const bash = { SHELL: '/bin/bash' };

let sandbox: Sandbox;

async function open({ programs, ...options }: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  sandbox = await createSandbox({ shell: turns.next().value, programs: { uname, ...programs }, ...options });
  return sandbox;
}

afterEach(() => sandbox[Symbol.asyncDispose]());

describe('profile of bash on macOS', () => {
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
