import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../../plugins/setup/script/edit/common.mjs';
import { editSettings } from '../../../../plugins/setup/script/program/edit.mjs';
import { decode, encode } from '../../../../plugins/setup/script/program/machine.mjs';
import { printable } from '../../../../plugins/setup/script/program/run.mjs';

const settings = '{\n  "env": {\n    "KEY": "k"\n  }\n}\n';
/** Settings of which the first three are only for a new file. */
const wantedWith = (key: string) =>
  `name: "Ours"\nversion: "1"\nschema: "v1"\nmodels:\n  - id: "m"\n    key: "${key}"\n`;

/** What the program does with settings, and what it says: 0 done, 2 refused. */
interface Edited {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Contents by name, and the editor on them: current, wanted, previous, before, after. */
function work(files: Readonly<Record<string, string | Buffer>>, format = 'json') {
  const contents = new Map<string, string | undefined>();
  const write = (changed: typeof files) => {
    for (const [name, content] of Object.entries(changed))
      contents.set(name, typeof content === 'string' ? encode(content) : content.toString('latin1'));
  };
  const run = (command: 'apply' | 'remove' | 'check', { identity = '-', at, dialect }: Options = {}): Edited => {
    const { after: _, ...given } = Object.fromEntries(contents);
    try {
      const { after, before, left, missing } = editSettings(command, { format, identity, at, dialect }, given);
      if (command !== 'check') contents.set('after', after);
      if (command === 'apply') contents.set('before', before);
      return {
        status: 0,
        stdout: (left ?? missing).map((name: string) => `${printable(name)}\n`).join(''),
        stderr: '',
      };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: 2, stdout: '', stderr: `${error.message}\n` };
    }
  };
  write(files);
  const read = (name: string) => {
    const content = contents.get(name);
    return content === undefined ? undefined : decode(content);
  };
  return { run, read, write, remove: (name: string) => contents.delete(name) };
}

interface Options {
  readonly identity?: string;
  readonly at?: string;
  readonly dialect?: string;
}

describe('editor of settings', () => {
  test('makes a missing file of the settings, and removes it again', () => {
    const { run, read, write: change, remove } = work({ wanted: settings, before: 'old', after: 'old' });

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
  ] as const)('takes no entry of ours in $format for the user’s, though it was changed', (one) => {
    const { format, file, wanted, other } = one;
    const { run, read, write: change } = work({ current: file, wanted }, format);
    run('apply', { identity: 'id' });
    const first = read('after') ?? '';
    change({ current: first.replace(...other), previous: wanted });
    run('apply', { identity: 'id' });
    expect([read('after'), read('before')]).toEqual([first, file]);
  });

  test('keeps the file without the settings along with the file with them, run after run', () => {
    const file = '{\r\n\t"env": {}, // mine\r\n}';
    const { run, read, write: change } = work({ current: file, wanted: settings });
    run('apply');
    const first = read('after') ?? '';
    expect([first, read('before')]).toEqual(['{\r\n\t"env": {\r\n\t\t"KEY": "k"\r\n\t}, // mine\r\n}', file]);

    change({ current: first, previous: settings });
    run('apply');
    expect([read('after'), read('before')]).toEqual([first, file]);

    change({ current: first.replace('}, // mine', '}, // mine\r\n\t"more": 1'), previous: settings });
    run('remove');
    expect(read('after')).toBe('{\r\n\t"env": {}, // mine\r\n\t"more": 1\r\n}');
  });

  test('changes a setting in its place, and takes out those that are no longer wanted', () => {
    const { run, read } = work({
      current: '{\n  "env": {\n    "OLD": "o",\n    "KEY": "k", // ours\n    "A": "1"\n  }\n}\n',
      previous: '{ "env": { "OLD": "o", "KEY": "k" } }',
      before: '{\n  "env": {}\n}\n',
      wanted: '{ "env": { "KEY": "k2" } }',
    });

    expect(run('apply').status).toBe(0);
    expect(read('after')).toBe('{\n  "env": {\n    "KEY": "k2", // ours\n    "A": "1"\n  }\n}\n');
    expect(read('before')).toBe('{\n  "env": { // ours\n    "A": "1"\n  }\n}\n');
  });

  test('takes over a value that the user changed, and brings it back', () => {
    const {
      run,
      read,
      write: change,
    } = work({
      current: '{"env":{"KEY":"mine","OLD":"mine"}}',
      previous: '{"env":{"KEY":"k","OLD":"o"}}',
      wanted: settings,
    });
    expect(run('apply')).toEqual({ status: 0, stdout: 'env.OLD\n', stderr: '' });
    expect(read('after')).toBe('{"env":{"KEY":"k","OLD":"mine"}}');

    change({ current: '{"env":{"KEY":"k","OLD":"mine"}}', previous: settings });
    run('remove');
    expect(read('after')).toBe('{"env":{"KEY":"mine","OLD":"mine"}}');
  });

  test('names settings that it leaves alone or misses, without their values', () => {
    const wanted = '{ "env": { "KEY": "k", "a\\u001b[2J\\n": 1 } }';
    const { run, read } = work({ current: '{"env":{"KEY":"secret"}}', wanted, previous: wanted });

    expect(run('check')).toEqual({ status: 0, stdout: 'env.KEY\nenv.a?[2J?\n', stderr: '' });
    expect(run('remove')).toEqual({ status: 0, stdout: 'env.KEY\n', stderr: '' });
    expect(read('after')).toBe('{"env":{"KEY":"secret"}}');
  });

  test('leaves initial members of a file as they are, and puts them into a new one', () => {
    const members = { identity: 'id;name,version,schema', at: 'start' };
    const file = '\uFEFFname : Mine # mine\n"version": 2\nmodels:\n  - id: a\n';
    const old = work({ current: file, wanted: wantedWith('k') }, 'yaml');
    expect(old.run('apply', members)).toEqual({ status: 0, stdout: '', stderr: '' });
    const merged =
      '\uFEFFname : Mine # mine\n"version": 2\nmodels:\n  - id: "m"\n    key: "k"\n  - id: a\nschema: "v1"\n';
    expect([old.read('after'), old.read('before')]).toEqual([merged, file]);

    old.write({ current: merged, previous: wantedWith('k') });
    expect([old.run('apply', members).stdout, old.read('after')]).toEqual(['', merged]);
    expect(old.run('check', members)).toEqual({ status: 0, stdout: '', stderr: '' });
    expect([old.run('remove', members).stdout, old.read('after')]).toEqual(['', file]);

    const made = work({ wanted: wantedWith('k') }, 'yaml');
    made.run('apply', members);
    expect([made.read('after'), made.read('before')]).toEqual([wantedWith('k'), undefined]);
    made.write({ current: wantedWith('k'), previous: wantedWith('k'), wanted: wantedWith('k2') });
    made.run('apply', members);
    expect([made.read('after'), made.read('before')]).toEqual([wantedWith('k2'), undefined]);
    made.write({ current: wantedWith('k2').replace('Ours', 'Renamed'), previous: wantedWith('k2') });
    expect(made.run('remove', members)).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(made.read('after')).toBe('name: "Renamed"\n');
  });

  describe('of initial members of JSON', () => {
    const members = { identity: '-;permissions.mode' };
    const wanted = '{\n  "env": {\n    "KEY": "k"\n  },\n  "permissions": {\n    "mode": "default"\n  }\n}\n';

    test.each([
      ['{"permissions":{"mode":"plan"}}', '{"permissions":{"mode":"plan"},"env":{"KEY":"k"}}'],
      ['{"permissions":{"mode":"default"}}', '{"permissions":{"mode":"default"},"env":{"KEY":"k"}}'],
      ['{"permissions":{"allow":[]}}', '{"permissions":{"allow":[],"mode":"default"},"env":{"KEY":"k"}}'],
    ])('%s keeps what it has, gets what it lacks, and comes back', (file, merged) => {
      const { run, read, write } = work({ current: file, wanted });
      run('apply', members);
      expect(JSON.parse(read('after') ?? '')).toEqual(JSON.parse(merged));
      write({ current: read('after') ?? '', previous: wanted });
      expect(run('check', members).stdout).toBe('');
      expect(run('apply', members).stdout).toBe('');
      expect(read('after')).toBe(read('current'));
      expect(run('remove', members).stdout).toBe('');
      expect(read('after')).toBe(file);
    });

    test('one that the user has changed since stays, now and when the settings go', () => {
      const { run, read, write } = work({ wanted });
      run('apply', members);
      write({ current: wanted.replace('default', 'plan'), previous: wanted });
      expect([run('apply', members).status, read('after')]).toEqual([0, wanted.replace('default', 'plan')]);
      expect(run('remove', members).stdout).toBe('');
      expect(JSON.parse(read('after') ?? '')).toEqual({ permissions: { mode: 'plan' } });
    });
  });

  test.each([
    ['plain', '{\n  "a": 1,\n}\n', 2],
    ['plain', '// mine\n{"a":1}\n', 2],
    ['comments', '{"a":[1,]}\n', 2],
    ['comments', '{"a":1 /* one */}\n', 0],
    ['plain', '{"a":"//,]"}\n', 0],
  ])('a file that a tool does not read is left alone: %s, %j', (dialect, current, status) => {
    const { run } = work({ current, wanted: settings });
    const edited = run('apply', { dialect });
    expect(edited.status).toBe(status);
    if (status === 2) expect(edited.stderr).toMatch(/^line \d, column \d: The tool does not read a file with /);
    expect(work({ current, wanted: settings }).run('apply').status).toBe(0);
  });

  test('recognises the entries of a list, at its start or its end', () => {
    const current = '[{"id":"a"},{"id":"m","x":1}]';
    const { run, read } = work({ current, wanted: '[{"id":"n"},{"id":"m"}]' });

    run('apply', { identity: 'id', at: 'start' });
    expect(read('after')).toBe('[{"id":"n"},{"id":"a"},{"id":"m","x":1}]');
    run('apply', { identity: 'id' });
    expect(read('after')).toBe('[{"id":"a"},{"id":"m","x":1},{"id":"n"}]');
    expect(run('apply').stderr).toBe('The settings must be an object, or a list of objects with an identity.\n');
  });

  test('refuses settings over a value of another kind, instead of losing it', () => {
    const { run, read } = work({ current: '{\n  "env": "x"\n}', wanted: settings });
    const stderr = 'line 2, column 10: env is a string here, but must be an object.\n';
    expect(run('apply')).toEqual({ status: 2, stdout: '', stderr });
    expect(read('after')).toBe(undefined);
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
  ])('refuses a file that is $file with status 2, and writes nothing', ({ current, stderr }) => {
    const { run, read } = work({ current, wanted: settings, previous: settings });

    expect(run('apply')).toEqual({ status: 2, stdout: '', stderr });
    for (const command of ['remove', 'check'] as const) expect(run(command)).toEqual({ status: 2, stdout: '', stderr });
    expect([read('after'), read('before')]).toEqual([undefined, undefined]);
  });
});
