import { chmod, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { testKey } from './parts-fixture.ts';
import { createSandbox, sampleTool, type Sandbox, type SandboxOptions } from './sandbox.ts';
import { shellsInTurn } from './shells.ts';

/*
 * What does not depend on the shell: each test runs in one of them, in turn.
 */

const turns = shellsInTurn();
const records = '.config/daypass/setup';
const config = 'model = "old"\n';

let sandbox: Sandbox;

async function open(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  sandbox = await createSandbox({ shell: turns.next().value, ...options });
  return sandbox;
}

afterEach(() => sandbox[Symbol.asyncDispose]());

/** The verdicts of a run: `Tool merger written ~/.merger/config.toml`. */
function verdictsIn({ stdout }: { readonly stdout: string }): string[] {
  const lines = stdout.split('\n').filter((line) => /^ {2}(Tool|Shell) /.test(line));
  return lines.map((line) => line.trim().replaceAll(/ +/g, ' '));
}

describe('file that cannot be edited', () => {
  it('a file that cannot be edited is left alone, and the other files of its tool are not written either', async () => {
    const both = sampleTool('both', [
      { kind: 'file', format: 'text', path: '~/.both/first', text: '@MODEL@' },
      { kind: 'file', format: 'toml', path: '~/.both/second', text: 'a = 1' },
      { kind: 'variable', name: 'BOTH', value: '1' },
    ]);
    const { run, write, snapshot } = await open({ tools: [both], commands: [] });
    await write('.both/second', 'a = = 2\n');
    const before = await snapshot();
    const result = await run('--yes');
    expect(result.status).toBe(1);
    expect(verdictsIn(result)).toStrictEqual([expect.stringMatching(/^Tool both failed ~\/.both\/second: .*line 1/)]);
    expect(await snapshot()).toStrictEqual(before);
  });

  it.each([
    ['a folder', (path: string) => mkdir(path, { recursive: true }), 'failed', 'it is a folder'],
    ['a link to itself', (path: string) => symlink('config.toml', path), 'skipped', 'lead in a circle'],
    ['a link to nowhere', (path: string) => symlink('/nowhere/x', path), 'skipped', 'whose folder does not exist'],
    ['a device', (path: string) => symlink('/dev/null', path), 'failed', 'not a regular file'],
  ])('is %s', async (_, create, verdict, reason) => {
    const { home, run, snapshot } = await open();
    await mkdir(join(home, '.merger'));
    await create(join(home, '.merger/config.toml'));
    const before = await snapshot();
    const result = await run('--yes --tools merger');
    expect(result.status).toBe(verdict === 'failed' ? 1 : 0);
    expect(verdictsIn(result)).toStrictEqual([
      expect.stringMatching(new RegExp(`^Tool merger ${verdict} ~/.merger/config.toml: .*${reason}`)),
    ]);
    expect(await snapshot()).toStrictEqual(before);
  });
});

describe('--tools', () => {
  it('--tools adds tools to those set up before, and --undo takes one of them out', async () => {
    const { run, read, snapshot } = await open();
    const before = await snapshot();
    await run('--yes --tools liner');
    const onlyLiner = await read('.config/daypass/env');
    const liner = await read('.config/liner/linerc');
    await run('--yes --tools environment,merger');
    expect(await read('.config/daypass/env')).toBe(
      `${onlyLiner}export OPENAI_API_KEY='${testKey}'\nexport OPENAI_BASE_URL='https://ai.example/v1'\n`,
    );
    expect(await read(`${records}/tools`)).toBe('liner\nmerger\nenvironment\n');
    const undone = await run('--undo --yes --tools environment,merger');
    expect(verdictsIn(undone)).toStrictEqual(['Tool merger removed ~/.merger/config.toml', 'Tool environment removed']);
    expect(await read('.config/daypass/env')).toBe(onlyLiner);
    expect(await read('.config/liner/linerc')).toBe(liner);
    await run('--undo --yes --tools liner');
    expect(await snapshot()).toStrictEqual(before);
  });

  it.each([
    ['nothing', ''],
    ['MERGR', 'Did you mean merger? '],
    ['m\\erger', 'Did you mean merger? '],
    ['environ', 'Did you mean environment? '],
    ['x', ''],
  ])('refuses the unknown name %s, suggests a similar one and lists the known ones', async (name, suggestion) => {
    const { run } = await open();
    expect(await run(`--tools liner,${name}`)).toStrictEqual({
      status: 2,
      stdout: '',
      stderr: `Unknown tool "${name}". ${suggestion}Choose from: merger, liner, whole, environment. Run with --help for the options.\n`,
    });
  });
});

describe('command line', () => {
  it.each([
    [
      '--key=dp-secret',
      'Other users of this machine can read the arguments of a program. Set DAYPASS_API_KEY, or pass --key-file FILE. Run with --help for the options.',
    ],
    ['--toolz', 'Unknown option "--toolz". Run with --help for the options.'],
    ['--tools', '--tools needs a value. Run with --help for the options.'],
    ['--model=', '--model needs a value. Run with --help for the options.'],
    ['--undo --verify', '--undo and --verify cannot be used together. Run with --help for the options.'],
    ['--model dp/none --yes', 'Model "dp/none" not found. Choose from: dp/demo, dp/other.'],
    ['--model ohter --yes', 'Model "ohter" not found. Did you mean dp/other? Choose from: dp/demo, dp/other.'],
  ])('refuses %s', async (args, message) => {
    const { run, snapshot } = await open();
    const before = await snapshot();
    expect(await run(args)).toStrictEqual({ status: 2, stdout: '', stderr: `${message}\n` });
    expect(await snapshot()).toStrictEqual(before);
  });

  it.each(['KEY', '--KEY', '-kKEY', '--tools=liner,KEY,x', '--tools KEY', '--model KEY', '--key-file ./KEY'])(
    'does not print a key that is passed as %s',
    async (args) => {
      const { run } = await open();
      const { status, stdout, stderr } = await run(args.replace('KEY', testKey));
      expect(stderr).toMatch(/^Other users of this machine can read the arguments of a program\./);
      expect(`${stdout}${stderr}`).not.toContain(testKey.slice(0, 12));
      expect(status).toBe(2);
    },
  );

  it('without a terminal, setup.sh needs --yes', async () => {
    const { run, snapshot } = await open();
    const before = await snapshot();
    const message = 'No terminal is available to ask for confirmation. Pass --yes to go on without it.\n';
    expect(await run('')).toStrictEqual({ status: 1, stdout: '', stderr: message });
    expect(await snapshot()).toStrictEqual(before);
    await run('--yes');
    expect(await run('--undo')).toMatchObject({ status: 1, stderr: message });
  });

  it('--help explains the options, and --list shows what is found and set up', async () => {
    const { run } = await open({ commands: ['merger'] });
    const help = await run('--help');
    expect(help.stdout).toContain('--dry-run        show what would change, and change nothing');
    await run('--yes --tools merger,whole --model dp/other');
    expect((await run('--list')).stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toStrictEqual([
      'Tools that can be set up for Daypass:',
      '',
      ' merger Tool merger found, set up with dp/other',
      ' liner Tool liner',
      ' whole Tool whole set up with dp/other',
      ' environment Tool environment only with --tools environment',
      '',
    ]);
  });
});

describe('--model', () => {
  it('--model may be named without the prefix, as in requests', async () => {
    const { run, read } = await open();
    expect(await run('--yes --tools merger --model other')).toMatchObject({ status: 0, stderr: '' });
    expect(await read('.merger/config.toml')).toContain('model = "dp/other"');
    expect((await run('--yes --model nothing')).stderr).toContain('Model "nothing" not found.');
  });

  it('--model is remembered for the tool', async () => {
    const { run, read } = await open({ tools: [wholeTool] });
    await run('--yes --tools whole --model dp/other');
    expect(await read('.whole/model')).toBe('dp/other dp/other\n');
    expect(verdictsIn(await run('--yes'))).toStrictEqual(['Tool whole unchanged']);
    await run('--yes --model dp/demo');
    expect(await read('.whole/model')).toBe('dp/demo dp/other\n');
  });
});

const wholeTool = sampleTool('whole', [
  { kind: 'place', variable: 'WHOLE_HOME', folder: '~/.whole' },
  { kind: 'file', format: 'text', path: '~/.whole/first|~/.whole/model', text: '@MODEL@ @SMALL@' },
]);

describe('paths', () => {
  it('paths follow the variables of the tool and XDG_CONFIG_HOME', async () => {
    const { home, run, read, snapshot } = await open({ tools: [wholeTool] });
    const before = await snapshot();
    const environment = { XDG_CONFIG_HOME: join(home, 'my "config"'), WHOLE_HOME: join(home, 'x y/') };
    await run('--yes', environment);
    expect(await read('x y/model')).toBe('dp/demo dp/other\n');
    await run('--undo --yes', environment);
    expect(await snapshot()).toStrictEqual(before);
  });

  it('paths that differ between runs are all brought up to date, and taken back', async () => {
    const { home, run, read, snapshot } = await open({ commands: [] });
    const before = await snapshot();
    const other = testKey.replaceAll('A', 'B');
    const fish = 'fish/conf.d/daypass.fish';
    const environment = {
      SHELL: '/bin/fish',
      XDG_CONFIG_HOME: join(home, 'my "config"'),
      MERGER_HOME: join(home, 'x|y'),
    };
    await run('--yes --tools merger,liner', environment);
    const result = await run('--yes', { SHELL: '/bin/fish', DAYPASS_API_KEY: other });
    expect(verdictsIn(result)).toStrictEqual([
      'Tool merger written ~/.merger/config.toml, ~/x|y/config.toml',
      'Tool liner written ~/.config/liner/linerc',
      `Shell profile written ~/.config/${fish}, ~/my "config"/${fish}`,
    ]);
    for (const path of ['.merger/config.toml', 'x|y/config.toml', `.config/${fish}`, `my "config"/${fish}`])
      expect(await read(path)).toContain(other);
    expect(verdictsIn(await run('--yes', { ...environment, DAYPASS_API_KEY: other }))).toStrictEqual([
      'Tool merger unchanged',
      'Tool liner unchanged',
    ]);
    await run('--undo --yes --tools merger', { SHELL: '/bin/bash' });
    expect(await read(`my "config"/${fish}`)).toContain(other);
    expect(await run('--undo --yes', { SHELL: '/bin/bash' })).toMatchObject({ status: 0, stderr: '' });
    expect(await snapshot()).toStrictEqual(before);
  });

  it('paths prefer the first one that exists', async () => {
    const { home, run, write, read } = await open({ tools: [wholeTool] });
    await write('.whole/first', '');
    await run('--yes');
    expect(await read('.whole/first')).toBe('dp/demo dp/other\n');
    expect(await readdir(join(home, '.whole'))).toStrictEqual(['first']);
  });

  it.each([
    ['', 'HOME is not set.'],
    ['/', 'HOME is "/", which is not a home folder.'],
    ['home', 'HOME is "home", which is not an absolute path.'],
    ['/nowhere\u001b[2J', 'The home folder /nowhere?[2J does not exist.'],
  ])('need a home folder: not "%s"', async (home, message) => {
    const { run } = await open();
    const result = await run('--yes', { HOME: home });
    expect(result).toMatchObject({ status: 1, stdout: '' });
    expect(result.stderr).toContain(message);
  });
});

describe('profile', () => {
  it.each([
    ['/usr/bin/zsh', {}, ['.zshrc']],
    ['/usr/bin/zsh', { ZDOTDIR: 'dots' }, ['dots/.zshrc']],
    ['/bin/ksh', {}, ['.profile']],
    ['/usr/bin/fish', {}, ['.config/fish/conf.d/daypass.fish']],
  ])('of %s %o is changed, and changed back', async (shell, variables: Record<string, string>, paths) => {
    const { home, run, read, snapshot } = await open({ commands: [] });
    if ('ZDOTDIR' in variables) await mkdir(join(home, 'dots'));
    const before = await snapshot();
    const environment = {
      SHELL: shell,
      ...('ZDOTDIR' in variables && { ZDOTDIR: join(home, variables['ZDOTDIR'] ?? '') }),
    };
    const result = await run('--yes --tools liner', environment);
    expect(verdictsIn(result)).toContainEqual(`Shell profile written ~/${paths.join(', ~/')}`);
    for (const path of paths)
      expect(await read(path)).toContain(
        shell.endsWith('fish') ? `set -gx DAYPASS_API_KEY '${testKey}'\n` : '. "$HOME/.config/daypass/env"; fi\n',
      );
    await run('--undo --yes', environment);
    expect(await snapshot()).toStrictEqual(before);
  });

  it('the profile with half of the markers is not touched', async () => {
    const { run, write, read } = await open();
    await write('.bashrc', '# >>> daypass >>>\nexport A=1\n');
    const result = await run('--yes --tools liner');
    expect(result.status).toBe(1);
    expect(result.stdout).toMatch(/Shell profile +failed +~\/.bashrc: its marker "# <<< daypass <<<" is missing/);
    expect(await read('.bashrc')).toBe('# >>> daypass >>>\nexport A=1\n');
  });

  it('the profile of the shell that was set up is brought up to date by another one, and no other is touched by --undo', async () => {
    const { run, read, snapshot } = await open({ commands: [] });
    const before = await snapshot();
    const fish = '.config/fish/conf.d/daypass.fish';
    await run('--yes --tools liner,environment', { SHELL: '/usr/bin/fish' });
    expect(await read(fish)).toContain('OPENAI_API_KEY');
    await run('--undo --yes --tools environment', { SHELL: '/usr/bin/zsh' });
    expect(await read(fish)).toBe(`set -gx DAYPASS_API_KEY '${testKey}'\n`);
    expect((await snapshot()).filter((line) => line.includes('.zshrc'))).toStrictEqual([]);
    const other = testKey.replaceAll('A', 'B');
    await run('--yes --tools liner', { DAYPASS_API_KEY: other });
    expect(await read(fish)).toBe(`set -gx DAYPASS_API_KEY '${other}'\n`);
    expect(await read('.bashrc')).toContain('>>> daypass >>>');
    await run('--undo --yes');
    expect(await snapshot()).toStrictEqual(before);
  });

  it('the profile keeps lines of other people in the file of the variables', async () => {
    const { run, write, read } = await open();
    await run('--yes --tools liner,environment');
    await write('.config/daypass/env', `${await read('.config/daypass/env')}export MINE='1'\n`);
    await run('--undo --yes --tools liner');
    expect(await read('.config/daypass/env')).toMatch(/OPENAI_API_KEY[^]*MINE/);
    await run('--undo --yes');
    expect(await read('.config/daypass/env')).toMatch(/^# Written by .*\nexport MINE='1'\n$/);
  });
});

describe('--dry-run', () => {
  it('--dry-run shows differences without secrets, and writes nothing', async () => {
    const { run, write, snapshot } = await open();
    const secrets = ['token = "t0ps3cret"', '[p]', 'api-key = "t0ps3cret" # t0ps3cret', 'auth.password = "t0ps3cret"'];
    await write('.merger/config.toml', `${config}${secrets.join('\n')}\nother = "sk-t0ps3cret"\n`);
    await write('.bashrc', `export FOO_TOKEN=t0ps3cret\n`);
    const before = await snapshot();
    const result = await run('--dry-run');
    expect(result).toMatchObject({ status: 0, stderr: '' });
    expect(result.stdout).not.toContain('t0ps3cret');
    expect(result.stdout).not.toContain(testKey.slice(0, 12));
    expect(result.stdout).toContain('--- ~/.merger/config.toml');
    expect(result.stdout).toContain('\n-model = "old"\n+model = "dp/demo"\n');
    expect(result.stdout).toContain('\n+key = ***\n');
    expect(result.stdout).toContain('--- ~/.config/daypass/env');
    expect(verdictsIn(result)).toContainEqual('Tool merger change ~/.merger/config.toml');
    expect(await snapshot()).toStrictEqual(before);
  });

  it('--dry-run shows what changes around a secret in settings of one line', async () => {
    const { run, write } = await open();
    const line =
      '{ "token": "t0ps\\"3cret", "model": "one", "password": "t0ps3cret", "x": 1, "auth-key": "t0ps3cret" }';
    await write('.merger/config.toml', `# ${line}\nmodel = "old"\n`);
    const { stdout } = await run('--dry-run --tools merger');
    expect(stdout).toContain(
      '\n # { "token": ***, "model": "one", "password": ***, "x": 1, "auth-key": *** }\n-model = "old"',
    );
    expect(stdout).not.toMatch(/t0ps|3cret/);
  });

  it('--dry-run needs no key, and shows what --undo would do', async () => {
    const { run, write, snapshot } = await open();
    await write('.merger/config.toml', config);
    expect(await run('--dry-run', { DAYPASS_API_KEY: '' })).toMatchObject({ status: 0, stderr: '' });
    await run('--yes');
    const before = await snapshot();
    expect(verdictsIn(await run('--dry-run', { DAYPASS_API_KEY: '' }))).toStrictEqual([
      'Tool merger unchanged',
      'Tool liner unchanged',
      'Tool whole unchanged',
    ]);
    const undo = await run('--undo --dry-run');
    expect(undo.stdout).toContain('\n-model = "dp/demo"\n');
    expect(undo.stdout).not.toContain(testKey.slice(0, 12));
    expect(await snapshot()).toStrictEqual(before);
  });
});

it('a tool that is Bun at the same time runs the program', async () => {
  const opencode = `#!/bin/sh
[ "\${BUN_BE_BUN-}" = 1 ] || exec echo "opencode $*"
case $1 in --revision) echo 1.3.14+0d9b296af ;; *) exec '${process.execPath}' "$@" ;; esac
`;
  const tool = sampleTool(
    'opencode',
    [{ kind: 'file', format: 'json', path: '~/.o.json', text: '{ "a": "@MODEL@" }' }],
    {},
  );
  const { run, write, read } = await open({ helper: 'none', tools: [tool], commands: [], programs: { opencode } });
  await write('.o.json', '{ // mine\n}');
  expect(await run('--yes --tools opencode')).toMatchObject({ status: 0, stderr: '' });
  expect(await read('.o.json')).toBe('{ // mine\n  "a": "dp/demo"\n}');
  expect((await run('--list')).stdout).toMatch(/opencode +Tool opencode +found, set up/);
});

describe('without Node.js, Bun and Deno', () => {
  it('setup without a runtime creates files and variables, shows what must be added to files that exist, and takes back just that', async () => {
    const { run, write, read, snapshot } = await open({ helper: 'none' });
    await write('.merger/config.toml', config, 0o644);
    await write('.bashrc', 'export A=1', 0o644);
    const before = await snapshot();
    const result = await run('--yes --tools merger,liner,whole,environment');
    expect(result).toMatchObject({ status: 0, stderr: '' });
    expect(verdictsIn(result)).toStrictEqual([
      ...['manual', 'written', 'written', 'written'].flatMap((verdict, index) => [
        expect.stringMatching(`^Tool ${['merger', 'liner', 'whole', 'environment'][index]} ${verdict}`),
      ]),
      expect.stringMatching(/^Shell profile written .*\.bashrc/),
    ]);
    expect(result.stdout).toMatch(
      /Put these settings into .*\.merger\/config\.toml \(toml\)[^]*\n {4}key = "YOUR_KEY"\n/,
    );
    expect(result.stdout).not.toContain(testKey);
    expect(await read('.merger/config.toml')).toBe(config);
    expect(await read('.config/whole/model.txt')).toBe('dp/demo\n');
    expect(await read('.config/daypass/env')).toContain(`export DAYPASS_API_KEY='${testKey}'\n`);
    expect(await read('.bashrc')).toMatch(/^export A=1\n# >>> daypass >>>\n/);
    const written = await snapshot();
    expect((await run('--yes --tools merger,liner,whole,environment')).status).toBe(0);
    expect(await snapshot()).toStrictEqual(written);
    expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
    expect(await snapshot()).toStrictEqual(before);
    expect((await run('--undo --yes')).stderr).toBe('Nothing of Daypass is set up on this machine.\n');
  });

  it('setup without a runtime brings a file of its own up to date, and leaves one that was edited since, by name', async () => {
    const { run, read, write } = await open({ helper: 'none' });
    await run('--yes --tools merger,whole');
    await run('--yes --tools merger', { DAYPASS_API_KEY: testKey.replaceAll('A', 'B') });
    expect(await read('.merger/config.toml')).toContain(testKey.replaceAll('A', 'B'));
    await write('.merger/config.toml', `${await read('.merger/config.toml')}mine = 1\n`);
    const undone = await run('--undo --yes');
    expect(undone.status).toBe(1);
    expect(undone.stdout).toMatch(
      /manual +\S+\.merger\/config\.toml: it was changed since; take the settings of Daypass out/,
    );
    expect(undone.stdout).toMatch(/removed +\S+\/model\.txt/);
    expect(await read('.merger/config.toml')).toContain('mine = 1');
  });

  it.each(['with it', 'without it'])('what was set up is taken back %s later', async (later) => {
    sandbox = await createSandbox({ shell: turns.next().value, helper: later === 'with it' ? 'none' : 'node' });
    const { run, write, snapshot, folder } = sandbox;
    await write('.bashrc', 'export A=1\n', 0o644);
    const before = await snapshot();
    expect((await run('--yes --tools liner,whole,environment')).status).toBe(0);
    const node = join(folder, 'bin/node');
    if (later === 'with it') await symlink(process.execPath, node);
    else await rm(node);
    expect((await run('--undo --yes')).status).toBe(0);
    expect(await snapshot()).toStrictEqual(before);
  });

  it.each([['--verify'], ['--model dp/demo'], ['--dry-run'], ['--undo --tools whole']])(
    'says what %s needs',
    async (args) => {
      const { run } = await open({ helper: 'none' });
      await run('--yes --tools whole');
      expect((await run(args)).stderr).toMatch(
        /needs Node\.js, Bun or Deno, none of which was found on this machine\./,
      );
    },
  );
});

describe('--undo after a run without any file', () => {
  it('--undo removes what a run left that ended before its first file', async () => {
    const { home, run, write, snapshot } = await open();
    const before = await snapshot();
    await mkdir(join(home, records, 'files'), { recursive: true });
    const folders = ['.config', '.config/daypass', records].map((path) => `${join(home, path)}\n`);
    await write(`${records}/folders`, folders.join(''));
    await write(`${records}/tools.new`, '');
    const left = await snapshot();
    await run('--undo --dry-run');
    expect(await snapshot()).toStrictEqual(left);
    expect(await run('--undo --yes')).toMatchObject({ status: 0, stderr: '' });
    expect(await snapshot()).toStrictEqual(before);
  });
});

describe('--undo', () => {
  it('--undo brings permissions back, unless they were changed meanwhile', async () => {
    const { home, run, write, modeOf } = await open();
    await write('.merger/config.toml', config, 0o644);
    await run('--yes --tools merger');
    expect(await modeOf('.merger/config.toml')).toBe('600');
    await run('--undo --yes');
    expect(await modeOf('.merger/config.toml')).toBe('644');
    await run('--yes --tools merger');
    await chmod(join(home, '.merger/config.toml'), 0o640);
    await run('--undo --yes');
    expect(await modeOf('.merger/config.toml')).toBe('640');
  });

  it('--undo accepts that a file is gone, keeps its backup, and follows a file behind a new link', async () => {
    const { home, run, write, read } = await open();
    await write('.merger/config.toml', config);
    await write('.config/whole/model.txt', 'mine\n');
    await run('--yes');
    await rm(join(home, '.merger'), { recursive: true });
    await mkdir(join(home, 'dots'));
    await rename(join(home, '.config/whole/model.txt'), join(home, 'dots/model'));
    await symlink(join(home, 'dots/model'), join(home, '.config/whole/model.txt'));
    const undone = await run('--undo --yes');
    expect(undone.status).toBe(0);
    expect(verdictsIn(undone)).toContainEqual(
      'Tool merger gone ~/.merger/config.toml (it was deleted or moved meanwhile)',
    );
    expect(await read('dots/model')).toBe('mine\n');
    const [time = ''] = await readdir(join(home, records, 'backups'));
    expect(await read(join(records, 'backups', time, home, '.merger/config.toml'))).toBe(config);
  });

  it('--undo shows where a relative link leads without dots', async () => {
    const { home, run, write } = await open();
    await write('dots/merger.toml', config);
    await mkdir(join(home, '.merger'));
    await symlink('../dots/merger.toml', join(home, '.merger/config.toml'));
    await run('--yes --tools merger');
    expect(verdictsIn(await run('--undo --yes --dry-run'))).toStrictEqual(['Tool merger restored ~/dots/merger.toml']);
    expect(verdictsIn(await run('--undo --yes'))).toStrictEqual(['Tool merger restored ~/dots/merger.toml']);
  });

  it('--undo does not touch a file whose record is incomplete', async () => {
    const { home, run, write, read } = await open();
    await write('.merger/config.toml', config);
    await run('--yes --tools merger');
    const written = await read('.merger/config.toml');
    await rm(join(home, records, 'files/merger.1/before'));
    const undone = await run('--undo --yes');
    expect(undone.status).toBe(1);
    expect(undone.stdout).toMatch(/Tool merger +failed .*the record .*merger.1 is incomplete/);
    expect(await read('.merger/config.toml')).toBe(written);
  });

  it('--undo takes the block out of the profile when the records are lost', async () => {
    const { home, run, write, read } = await open();
    await write('.bashrc', 'export A=1\n');
    await run('--yes --tools liner');
    await rm(join(home, '.config/daypass'), { recursive: true });
    expect(await run('--undo --yes')).toMatchObject({ status: 0 });
    expect(await read('.bashrc')).toBe('export A=1\n');
  });
});

describe('run that was killed', () => {
  it('a run that was killed is completed by the next one: lock, temporary file and record', async () => {
    const { home, run, write, read, snapshot } = await open();
    await write('.merger/config.toml', config);
    const before = await snapshot();
    await run('--yes');
    const after = (await snapshot()).filter((line) => !/setup\/(stamp|backups)/.test(line));
    // As if it had ended right after it replaced the file.
    await rename(join(home, records, 'files/merger.1'), join(home, records, 'files/merger.1.new'));
    await write(`${records}/lock/pid`, '4194304\n');
    await write('.merger/.daypass-setup.4194304', testKey);
    await run('--yes');
    expect((await snapshot()).filter((line) => !/setup\/(stamp|backups)/.test(line))).toStrictEqual(after);
    expect(await read(`${records}/files/merger.1/before`)).toBe(config);
    await run('--undo --yes');
    expect(await snapshot()).toStrictEqual(before);
  });

  it('a run that was killed does not remove what only begins like a temporary file of this script', async () => {
    const { run, write, read } = await open();
    await write('.merger/config.toml', config);
    await run('--yes --tools merger');
    const others = ['.daypass-setup.old/mine', '.merger/.daypass-setup.old', '.merger/.daypass-setup.1x'];
    for (const path of others) await write(path, 'mine');
    await write(`${records}/files/merger.1.new/path`, '');
    await run('--yes --tools merger');
    await run('--undo --yes');
    for (const path of others) expect(await read(path)).toBe('mine');
  });

  it('a run that was killed is not taken for one that is still at work', async () => {
    const { run, write, snapshot } = await open();
    await run('--yes');
    await write(`${records}/lock/pid`, `${process.pid}\n`);
    const before = await snapshot();
    const result = await run('--yes');
    expect(result).toMatchObject({ status: 1, stdout: '' });
    expect(result.stderr).toContain(`Another run is changing the settings (process ${process.pid}).`);
    expect(await snapshot()).toStrictEqual(before);
  });
});

it('a second run does not write to any file', async () => {
  const { home, run, write } = await open();
  await write('.merger/config.toml', config);
  await run('--yes');
  const times = async () =>
    Promise.all(
      ['.merger/config.toml', '.bashrc', '.config/daypass/env', `${records}/files/merger.1`].map(
        async (path) => (await stat(join(home, path))).mtimeMs,
      ),
    );
  const before = await times();
  await run('--yes');
  expect(await times()).toStrictEqual(before);
  await writeFile(join(home, '.unrelated'), '');
});

describe('settings that depend on other files of the tool', () => {
  const text = '{"url":"@KEY@","permissions":{"defaultMode":"default"}}';
  const elsewhere = [{ path: '~/managed.json' }, { path: '~/managed.d/' }];
  const initial = ['permissions.defaultMode'];
  const asker = sampleTool('asker', [
    { kind: 'cache', path: '~/.asker/models.json' },
    { kind: 'file', format: 'json', path: '~/.asker/settings.json', text, initial, elsewhere },
  ]);

  it.each([
    ['nothing', {}, true],
    ['an administrator who says nothing of it', { 'managed.json': '{"permissions":{"allow":[]}}' }, true],
    ['an administrator', { 'managed.json': '{"permissions":{"defaultMode":"plan"}}' }, false],
    ['a part of an administrator', { 'managed.d/20-mode.json': '{"permissions":{"defaultMode":"plan"}}' }, false],
    ['a file that cannot be read', { 'managed.json': '{"permissions":' }, false],
    ['the user', { '.asker/settings.json': '{"permissions":{"defaultMode":"acceptEdits"}}' }, 'acceptEdits'],
  ] as const)('are left to %s, and taken back', async (_, files, mode) => {
    const { run, write, read, snapshot } = await open({ tools: [asker], commands: [] });
    for (const [path, content] of Object.entries(files)) await write(path, content);
    const before = await snapshot();
    expect((await run('--yes --tools asker')).status).toBe(0);
    const written = JSON.parse(await read('.asker/settings.json')) as { permissions?: unknown };
    const expected = mode === false ? undefined : { defaultMode: mode === true ? 'default' : mode };
    expect(written.permissions).toEqual(expected);
    expect((await run('--undo --yes')).status).toBe(0);
    expect(await snapshot()).toStrictEqual(before);
  });

  it('are left out without a runtime, which nothing could read the other files with', async () => {
    const { run, read } = await open({ tools: [asker], commands: [], helper: 'none' });
    expect((await run('--yes --tools asker')).status).toBe(0);
    expect(JSON.parse(await read('.asker/settings.json'))).toEqual({ url: testKey });
  });

  it('go with the tool’s cache of this gateway, and not with that of another', async () => {
    const { run, write, read, url } = await open({ tools: [asker], commands: [] });
    await run('--yes --tools asker');
    await write('.asker/models.json', JSON.stringify({ baseUrl: `${url}/other`, models: [] }));
    await run('--undo --yes');
    expect(await read('.asker/models.json')).toContain('/other');
    await run('--yes --tools asker');
    await write('.asker/models.json', JSON.stringify({ baseUrl: url, models: [] }));
    expect((await run('--undo --yes')).status).toBe(0);
    await expect(read('.asker/models.json')).rejects.toThrow('ENOENT');
  });
});
