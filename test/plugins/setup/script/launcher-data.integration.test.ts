import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FileAction, ScriptAction } from '../../../../plugins/setup/script/actions.ts';
import type { ScriptData } from '../../../../plugins/setup/script/script-data.ts';
import { writeTables } from '../../../../plugins/setup/script/launcher-data.ts';
import { nasty } from '../nasty.ts';
import { describeInShells, runShell } from './shells.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setup-data-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Anything that a shell can hold, with what would break out of quotes and here-documents, and leave a file behind. */
const hostile = fc
  .tuple(
    nasty,
    fc.constantFrom(
      '',
      '\nDATA\n: >canary\n',
      'DATA',
      '\nDATA_\nDATA\n',
      '$(: >canary)',
      '`: >canary`',
      `'; : >canary; '`,
      '%s\\n',
    ),
    nasty,
  )
  .map((parts) => parts.join('').replaceAll('\0', ''));

const fileAction: fc.Arbitrary<FileAction> = fc.record({
  kind: fc.constant('file'),
  format: fc.constantFrom('json', 'toml', 'yaml', 'block', 'text'),
  path: hostile,
  macos: hostile,
  identity: fc.constantFrom(['id'], ['id', 'baseUrl']),
  initial: fc.constantFrom(['name'], ['name', 'version']),
  at: fc.constant('start'),
  text: hostile,
});
const action: fc.Arbitrary<ScriptAction> = fc.oneof(
  fileAction,
  fc.record({
    kind: fc.constant('place' as const),
    variable: fc.constant('A_HOME'),
    folder: hostile.map((text) => `~${text}`),
  }),
  fc.record({ kind: fc.constant('variable' as const), name: fc.constant('A_KEY'), value: hostile }),
  fc.record({ kind: fc.constant('note' as const), text: hostile }),
);
const someData: fc.Arbitrary<ScriptData> = fc.record({
  service: hostile,
  formerSlugs: fc.constant([] as string[]),
  slug: hostile,
  baseUrl: hostile,
  keyPrefix: hostile,
  keyVariable: hostile,
  models: fc.constant([{ name: 'dp/m', traits: 'c' }]),
  defaults: fc.constant([{ format: 'chat', model: 'dp/m' }]),
  tools: fc
    .tuple(hostile, hostile, fc.array(action, { maxLength: 3 }), fc.array(action, { maxLength: 3 }))
    .map(([name, start, one, other]) => [
      {
        id: 'one',
        name,
        format: 'chat',
        isOnRequest: false,
        commands: [],
        folders: [],
        start,
        variants: [
          { traits: ['c-same', 'ci'], actions: one },
          { traits: ['n-same'], actions: other },
        ],
      },
    ]),
});

/** What a table prints of a cell. */
const cell = (text: string) => text.replaceAll(/\p{Cc}+/gu, ' ') || '-';

/** The output of `probe` for this data. */
function expectedOutput({ service, slug, baseUrl, keyPrefix, keyVariable, tools }: ScriptData) {
  const rows = tools.map(({ id, name }) => [id, cell(name), 'no', '-', '-'].join('\t'));
  const calls = tools[0]!.variants[0]!.actions.map(expectedCall).join('');
  return [service, slug, baseUrl, keyPrefix, keyVariable, `${rows.join('\n')}\n`]
    .map((text) => `${text}\0`)
    .concat(calls)
    .join('');
}

function expectedCall(one: ScriptAction): string {
  switch (one.kind) {
    case 'place':
      return `place\0${one.variable}\0${one.folder}\0`;
    case 'variable':
      return `variable\0${one.name}\0${one.value}\0`;
    case 'note':
      return '';
    case 'file':
      return `file\0${one.format}\0${one.path}\0${one.macos ?? '-'}\0${one.text.replace(/\n+$/, '')}\0`;
  }
}

/** Prints everything that the data part says, with NUL after each text. */
const probe = `
print() { printf '%s\\0' "$@"; }
place() { print place "$@"; }
variable() { print variable "$@"; }
file() { print file "$@"; }
print "$service" "$slug" "$base_url" "$key_prefix" "$key_variable"
list_tools
printf '\\0'
configure one
`;

describeInShells('the data of setup.sh', ({ name, command }) => {
  it('prints every text as it is and runs nothing of it', async () => {
    const place = await mkdtemp(join(folder, 'run-'));
    const samples = fc.sample(someData, { numRuns: 60, seed: 13 });
    const parts = samples.map((data) => `(\n${writeTables(data)}\n${probe})\nprintf '\\0\\0\\n'`);
    const script = join(folder, `${name.replaceAll(' ', '')}.sh`);
    await writeFile(script, `set -u\n[ -z "\${ZSH_VERSION-}" ] || emulate sh\n${parts.join('\n')}\n`);
    const { stdout, stderr, status } = await runShell(command, [script], {
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      cwd: place,
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const printed = stdout.split('\0\0\n').slice(0, -1);
    for (const [index, data] of samples.entries()) expect(`${printed[index]}`).toBe(expectedOutput(data));
    expect(await readdir(place)).toEqual([]);
  });
});
