import { mkdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { testKey } from './parts-fixture.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';
import { describeInShells, type Shell, shellsInTurn } from './shells.ts';

const otherKey = testKey.replaceAll('A', 'B');

const config = '# mine\nmodel = "old" # keep\n\n[other]\na = 1\n';
const profileBlock =
  '# >>> daypass >>>\nif [ -r "$HOME/.config/daypass/env" ]; then . "$HOME/.config/daypass/env"; fi\n# <<< daypass <<<\n';
const environmentHead = (url: string) => `# Written by ${url}/setup.sh, whose option --undo removes it.\n`;

let sandbox: Sandbox | undefined;

afterEach(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  sandbox = undefined;
});

async function open(shell: Shell, options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  sandbox = await createSandbox({ shell, ...options });
  return sandbox;
}

describeInShells('setup.sh', (shell) => {
  it('the script sets tools up, is idempotent, brings a new key up to date, and takes all back byte for byte', async () => {
    const { run, write, read, snapshot, modeOf, url } = await open(shell);
    await write('.merger/config.toml', config, 0o640);
    await write('.bashrc', 'export A=1', 0o644);
    const before = await snapshot();

    expect(await run('--yes')).toMatchObject({ status: 0, stderr: '' });
    expect(await read('.merger/config.toml')).toBe(
      `# mine\nmodel = "dp/demo" # keep\nwindow = 200000\n\n[other]\na = 1\n\n[provider]\nkey = "${testKey}"\nsmall = "dp/other"\n`,
    );
    expect(await read('.config/liner/linerc')).toBe(
      '# >>> daypass >>>\nuse dp/demo\nwith "$DAYPASS_API_KEY"\n# <<< daypass <<<\n',
    );
    expect(await read('.config/whole/model.txt')).toBe('dp/demo\n');
    expect(await read('.bashrc')).toBe(`export A=1\n${profileBlock}`);
    expect(await read('.config/daypass/env')).toBe(`${environmentHead(url)}export DAYPASS_API_KEY='${testKey}'\n`);
    const after = await snapshot();
    const ofState = after.filter((line) => line.includes('.config/daypass'));
    expect(ofState.filter((line) => !/^(file 600|folder 700) /.test(line))).toStrictEqual([]);
    expect(await Promise.all(['.merger/config.toml', '.config/liner/linerc', '.bashrc'].map(modeOf))).toStrictEqual([
      '600',
      '644',
      '644',
    ]);

    const again = await run('--yes');
    expect(again).toMatchObject({ status: 0, stderr: '' });
    expect(
      again.stdout
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/ +/g, ' ')),
    ).toStrictEqual(['Tool merger unchanged', ' Tool liner unchanged', ' Tool whole unchanged']);
    expect(await snapshot()).toStrictEqual(after);

    const changed = await run('--yes', { DAYPASS_API_KEY: otherKey });
    expect(changed.status).toBe(0);
    expect(await read('.merger/config.toml')).toContain(`key = "${otherKey}"`);
    expect(await read('.config/daypass/env')).toContain(otherKey);
    expect(changed.stdout).not.toContain(otherKey);

    const undone = await run('--undo --yes');
    expect(undone).toMatchObject({ status: 0, stderr: '' });
    expect(await snapshot()).toStrictEqual(before);
    expect((await run('--undo --yes')).stdout).toBe('Nothing of Daypass is set up on this machine.\n');
  });
});

describe('setup.sh, in the shells in turn', () => {
  const turns = shellsInTurn();

  it('setup.sh undoes files that tools edited before a run that found nothing to change', async () => {
    const { run, write, read } = await open(turns.next().value);
    await write('.bashrc', 'export A=1\n');
    await run('--yes');
    const edited = '# written by a tool\n';
    await write('.merger/config.toml', `${edited}${await read('.merger/config.toml')}`);
    await write('.config/liner/linerc', `${edited}${await read('.config/liner/linerc')}`);

    expect((await run('--yes')).stdout).not.toContain('written ');
    expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
    expect(await read('.merger/config.toml')).toBe(edited);
    expect(await read('.config/liner/linerc')).toBe(edited);
    expect(await read('.bashrc')).toBe('export A=1\n');
  });

  it('setup.sh follows links, and takes any character in paths', async () => {
    const { home, run, write, read, snapshot } = await open(turns.next().value, {
      home: `it's "ä" $(id) %0A\\\n\` home`,
    });
    await write('dot files/merger.toml', config, 0o600);
    await write('dot files/bashrc', 'export A=1\r\n');
    await mkdir(join(home, '.merger'));
    await symlink('../dot files/merger.toml', join(home, '.merger/config.toml'));
    await symlink(join(home, 'dot files/bashrc'), join(home, '.bashrc'));
    await symlink('dot files/absent', join(home, '.config'));
    await mkdir(join(home, 'dot files/absent'));
    await mkdir(join(home, '.config/whole'));
    await symlink('not yet', join(home, '.config/whole/model.txt'));
    const before = await snapshot();

    expect(await run('--yes')).toMatchObject({ status: 0, stderr: '' });
    expect(await readlink(join(home, '.merger/config.toml'))).toBe('../dot files/merger.toml');
    expect(await read('dot files/merger.toml')).toContain(testKey);
    expect(await read('dot files/bashrc')).toBe(`export A=1\r\n${profileBlock}`);
    expect(await read('dot files/absent/whole/not yet')).toBe('dp/demo\n');
    const after = await snapshot();
    expect(await run('--yes')).toMatchObject({ status: 0, stderr: '' });
    expect(await snapshot()).toStrictEqual(after);

    expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
    expect(await snapshot()).toStrictEqual(before);
  });

  it('setup.sh keeps what was edited meanwhile, and names the settings that it leaves alone', async () => {
    const { run, write, read } = await open(turns.next().value);
    await write('.merger/config.toml', config);
    await write('.bashrc', 'export A=1');
    await run('--yes');
    const edited = (await read('.merger/config.toml')).replace('small = "dp/other"', 'small = "mine"');
    await write('.merger/config.toml', edited.replace('a = 1', 'a = 2 # two'));
    await write('.bashrc', `${await read('.bashrc')}export B=2\n`);
    await write('.config/liner/linerc', `first\n${await read('.config/liner/linerc')}last\n`);
    await write('.config/whole/model.txt', 'mine\n');

    const undone = await run('--undo --yes');
    expect(undone).toMatchObject({ status: 0, stderr: '' });
    expect(await read('.merger/config.toml')).toBe(
      '# mine\nmodel = "old" # keep\n\n[other]\na = 2 # two\n\n[provider]\nsmall = "mine"\n',
    );
    expect(undone.stdout).toMatch(/Tool merger +cleaned +~\/.merger\/config.toml \(.*provider.small\)/);
    expect(await read('.bashrc')).toBe('export A=1\nexport B=2\n');
    expect(await read('.config/liner/linerc')).toBe('first\nlast\n');
    expect(await read('.config/whole/model.txt')).toBe('mine\n');
    expect(undone.stdout).toMatch(/Copies of the files from before: ~\/.config\/daypass\/setup\/backups/);
    expect((await run('--undo --yes')).stdout).toBe('Nothing of Daypass is set up on this machine.\n');
  });
});
