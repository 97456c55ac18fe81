import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { FileAction } from '../../../plugins/setup/script/actions.ts';
import { type ScriptData, scriptData, type ScriptTool } from '../../../plugins/setup/script/script-data.ts';
import { tools } from '../../../plugins/setup/tools.ts';
import { modelOf } from '../format/catalog/catalog-fixture.ts';
import { clis } from '../../tools/clis.ts';
import { registry, setupHost } from './fixture.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'setup.md'), 'utf8');
const limits = { maxInputTokens: 200_000, maxOutputTokens: 32_000 };
const data = scriptData(setupHost([modelOf('a', ['chat'], limits)]), registry) as ScriptData;

const formatNames: Readonly<Record<string, string>> = {
  chat: 'Chat Completions',
  responses: 'Responses',
  messages: 'Messages',
  gemini: 'Gemini',
};

/** The row of a tool in the table of docs/setup.md. */
function rowOf(tool: ScriptTool): string {
  const actions = tool.variants[0]?.actions ?? [];
  const files = actions.flatMap((action) => (action.kind === 'file' ? [placeOf(action)] : []));
  const variables = actions.flatMap((action) => (action.kind === 'variable' ? [`\`${action.name}\``] : []));
  const moved = actions.flatMap((action) => (action.kind === 'place' ? [`\`${action.variable}\``] : []));
  const { seen, formats } = tools.find(({ id }) => id === tool.id)!;
  const cells = [
    `\`${tool.id}\``,
    `${tool.name}${seen === undefined || seen === '' ? '' : ` ${seen}`}`,
    formats.map((format) => formatNames[format]).join(', '),
    `${files.join('<br>')}${moved.length === 0 ? '' : ` (${[...new Set(moved)].join(', ')})`}`,
    variables.join(', '),
  ];
  return `| ${cells.map((cell) => cell || '–').join(' | ')} |`;
}

/** Windows is named where the file is not in the same place below the user's folder. */
function placeOf({ path, macos, windows }: FileAction): string {
  const [last = '', other] = path.split('|').toReversed();
  const sameOnWindows = last.replace('~', '%USERPROFILE%').replaceAll('/', '\\');
  const places = [
    `\`${last}\`${other === undefined ? '' : `, or \`${other.slice(other.lastIndexOf('/') + 1)}\` if it exists`}`,
    macos !== undefined && `macOS: \`${macos}\``,
    windows !== undefined && windows !== sameOnWindows && `Windows: \`${windows}\``,
  ];
  return places.filter((place) => place !== false).join('; ');
}

it('docs/setup.md lists what the script writes for every tool', () => {
  const rows = data.tools.map(rowOf);
  const table = ['| `--tools` | tool | speaks | files (moved by) | variables |', '|---|---|---|---|---|', ...rows];
  const found = /<!-- tools: .* -->\n([^]*?)<!-- \/tools -->/.exec(page)?.[1];
  expect(found).toBe(`${table.join('\n')}\n`);
});

it('docs/setup.md names every tool that no script sets up', () => {
  const byHand = tools.filter(({ script, group }) => script === undefined && group !== 'libraries');
  expect(byHand.filter(({ name }) => !page.includes(name)).map(({ name }) => name)).toEqual([]);
});

const source = (file: string) =>
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'plugins', 'setup', 'script', file), 'utf8');

const listed = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, option]) => option).toSorted();

it('docs/setup.md lists the options of both scripts', () => {
  const options = listed(source('program/options.mjs'), /^ {4}\[\s*'([a-z-]+)',\s*'/gm);
  expect(options).toHaveLength(9);
  expect(listed(page, /^\| `--([\w-]+)[^|]*\| `-/gm)).toEqual(options);
  const onWindows = listed(source('launcher/setup.ps1'), /'--([a-z-]+)'/gm);
  expect(options.filter((option) => !onWindows.includes(option))).toEqual([]);
});

it('docs/setup.md says of every tool that npm run test:tools runs in which version that was', () => {
  const missing = clis.filter((cli) => !page.includes(`\`${cli.package}\` ${cli.version}`));
  expect(missing.map(({ id }) => id)).toEqual([]);
});
