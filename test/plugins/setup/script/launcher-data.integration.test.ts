import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FileAction, ScriptAction } from '../../../../plugins/setup/script/describe-actions.ts';
import { renderShellTable } from '../../../../plugins/setup/script/launcher-data.ts';
import type { ScriptData, ScriptTool } from '../../../../plugins/setup/script/script-data.ts';
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
  path: fc
    .oneof(
      hostile,
      hostile.map((text) => `~/.tool/${text}`),
      hostile.map((text) => `~/.config/tool/${text}`),
    )
    .map((text) => text.replaceAll('|', '/')),
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
    folder: fc.constantFrom('~/.tool', '~', '~/.config/tool'),
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
  models: fc.constant([{ name: 'dp/m', features: 'c' }]),
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
        folders: ['~/.one'],
        start,
        variants: [
          { features: ['c-same', 'ci'], actions: one },
          { features: ['n-same'], actions: other },
        ],
      },
    ]),
});

/** The output of `probe` for this data. */
function expectedOutput({ service, slug, baseUrl, keyPrefix, keyVariable, tools }: ScriptData) {
  const [{ name, variants }] = tools as [ScriptTool];
  const actions = variants[0]!.actions;
  const words = [
    service,
    slug,
    baseUrl,
    keyPrefix,
    keyVariable,
    'tool',
    'one',
    name.replaceAll(/\p{Cc}+/gu, ' '),
    'no',
    '',
  ];
  const calls = actions.flatMap((one) =>
    expectedCall(
      one,
      actions.find(({ kind }) => kind === 'place'),
    ),
  );
  return [...words, '/home/.one', ...calls, 'finish'].map((text) => `${text}\0`).join('');
}

function expectedCall(one: ScriptAction, place: ScriptAction | undefined): string[] {
  if (one.kind === 'variable') return ['variable', one.name, one.value];
  if (one.kind !== 'file') return [];
  const moved = place?.kind === 'place' ? place.folder : undefined;
  const isMoved = moved !== undefined && one.path.startsWith(`${moved}/`);
  const path = isMoved ? `/moved here${one.path.slice(moved.length)}` : one.path;
  const full = path.replace(/^~\/\.config\//, '/settings/').replace(/^~\//, '/home/');
  return ['file', one.format, one.path, one.text.replace(/\n+$/, ''), full];
}

/** Prints everything that the data part says, with NUL after each text. */
const probe = `
print() { printf '%s\\0' "$@"; }
tool() { print tool "$@"; }
variable() { print variable "$@"; }
file() { print file "$@"; }
finish() { print finish; }
HOME=/home config=/settings A_HOME='/moved here' SETUP_SYSTEM=linux
print "$service" "$slug" "$base_url" "$key_prefix" "$key_variable"
each_tool
`;

describeInShells('the data of setup.sh', ({ name, command }) => {
  it('the launcher prints every text as it is and runs nothing of it', async () => {
    const place = await mkdtemp(join(folder, 'run-'));
    const samples = fc.sample(someData, { numRuns: 60, seed: 13 });
    const parts = samples.map((data) => `(\n${renderShellTable(data)}\n${probe})\nprintf '\\0\\0\\n'`);
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
