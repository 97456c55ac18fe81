import type { FileAction } from '../../../plugins/setup/script/describe-actions.ts';
import { type ScriptData, createScriptData, type ScriptTool } from '../../../plugins/setup/script/script-data.ts';
import { tools } from '../../../plugins/setup/tools.ts';
import { modelOf } from '../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from './fixture.ts';

const formatNames: Readonly<Record<string, string>> = {
  chat: 'Chat Completions',
  responses: 'Responses',
  messages: 'Messages',
  gemini: 'Gemini',
};

/** The table of docs/setup.md with what the script writes for each tool. */
export function writeSettingsTable(): string {
  const limits = { maxInputTokens: 200_000, maxOutputTokens: 32_000 };
  const data = createScriptData(setupHost([modelOf('a', ['chat'], limits)]), registry) as ScriptData;
  const heads = ['`--tools`', 'tool', 'speaks', 'files (moved by)', 'variables'];
  return writeTable(heads, data.tools.map(settingsOf));
}

/** The table of docs/setup.md with the versions that `npm run test:tools` has run. */
export function writeTriedTable(): string {
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  const rows = tools.flatMap(({ name, seen, npm, pypi }) => {
    const installed = npm ?? pypi;
    if (installed === undefined) return [];
    return [[name, `\`${installed.package}\` ${seen}`, day.format(new Date(installed.tried))]];
  });
  return writeTable(['tool', 'package and version', 'tried on'], rows);
}

function writeTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => cells.map((cell) => cell || '–'));
  return lines.map((cells, index) => (index === 1 ? `|${cells.join('|')}|\n` : `| ${cells.join(' | ')} |\n`)).join('');
}

function settingsOf(tool: ScriptTool): string[] {
  const actions = tool.variants[0]?.actions ?? [];
  const files = actions.flatMap((action) => (action.kind === 'file' ? [placeOf(action)] : []));
  const variables = actions.flatMap((action) => (action.kind === 'variable' ? [`\`${action.name}\``] : []));
  const moved = actions.flatMap((action) => (action.kind === 'place' ? [`\`${action.variable}\``] : []));
  const { seen = '', formats } = tools.find(({ id }) => id === tool.id)!;
  return [
    `\`${tool.id}\``,
    `${tool.name} ${seen}`.trim(),
    formats.map((format) => formatNames[format]).join(', '),
    `${files.join('<br>')}${moved.length === 0 ? '' : ` (${[...new Set(moved)].join(', ')})`}`,
    variables.join(', '),
  ];
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
