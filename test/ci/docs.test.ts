import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command as Parser } from 'commander';
import { expect, it } from 'vitest';
import { assemble } from '#core/extension/assembly.ts';
import type { CommandContext } from '#core/extension/commands/command.ts';
import { listPlugins } from '../../.ci/deletion-rules.ts';
import { vendors } from '../../plugins/upstream/vendors.ts';
import { silentLog } from '../support/database.ts';
import { absentCapabilities, isAbsent } from './absent.ts';

const root = join(import.meta.dirname, '..', '..');
const pages = globSync('{README.md,docs/{,configuration/,operating/}*.md}', { cwd: root });
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const foldersOf = (folder: string) =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);

/** Folders of core in the drawing of architecture.md, where two spaces are one level. */
function drawnFolders(): string[] {
  const [drawing = ''] = /^ {4}core\/[^]*?(?=^ {4}plugins\/)/m.exec(read('docs/architecture.md')) ?? [];
  let floor = '';
  return [...drawing.matchAll(/^( {6}| {8})([\w-]+)\/ +\S/gm)].map(([, indent = '', name = '']) => {
    if (indent.length === 6) floor = `core/${name}`;
    return indent.length === 6 ? floor : `${floor}/${name}`;
  });
}

it('architecture.md draws every floor and room of core, and no other', () => {
  const floors = foldersOf('core');
  expect(drawnFolders().toSorted()).toEqual([...floors, ...floors.flatMap(foldersOf)].toSorted());
});

it('architecture.md says of every plugin what it is', () => {
  const named = new Set(listPlugins(read('docs/architecture.md')));
  expect(foldersOf('plugins').filter((folder) => !named.has(folder.slice('plugins/'.length)))).toEqual([]);
});

it('upstreams.md lists every vendor preset', () => {
  const [, list = ''] = /^Vendor presets: ([^]*?)\n\n/m.exec(read('docs/upstreams.md')) ?? [];
  expect(vendors.map(({ name }) => name).filter((name) => !list.includes(`\`${name}\``))).toEqual([]);
});

const eventsIn = (text: string) => text.match(/(?<=['`])[a-z]+\.[a-z]+(?=['`])/g)?.toSorted();

it('operating/shop.md lists every event of accounts, and no other', () => {
  const [, types = ''] =
    /^export interface EventTypes \{\n([^]*?)^\}/m.exec(read('core/gateway/events/events.ts')) ?? [];
  const [, section = ''] = /^## Events\n([^]*?)(?=^## |$(?![^]))/m.exec(read('docs/operating/shop.md')) ?? [];
  expect(eventsIn(section)).toEqual(eventsIn(types));
});

it.runIf(absentCapabilities.length === 0).each(pages)('%s names counters that exist', (page) => {
  const sources = globSync('{core,plugins}/**/*.ts', { cwd: root }).map(read).join('\n');
  const declared = [...sources.matchAll(/['}](\w+_total)['`]/g)].map(([, name = '']) => name);
  const named = [...read(page).matchAll(/`(\w+_total)\b/g)].map(([, name = '']) => name);
  // A prefix may precede them.
  expect(named.filter((name) => !declared.some((one) => `_${name}`.endsWith(`_${one}`)))).toEqual([]);
});

/** The commands of all plugins. Those of core have no subcommands, and are left out. */
async function commandLine(): Promise<Parser> {
  const { registry } = await assemble(undefined, silentLog, () => {
    throw new Error('no gateway runs');
  });
  const parser = new Parser('daypass');
  for (const command of registry.commands.values())
    command.define(parser.command(command.name), {} as unknown as CommandContext);
  return parser;
}

const coreCommands = new Set([
  'init',
  'start',
  'check',
  'doctor',
  'schema',
  'migrate',
  'restore',
  'history',
  'diff',
  'rollback',
  'restart',
  'reload',
  'stop',
]);

/** Lines of a page that show a command, such as `daypass orders list [--flagged]`, and the options that they name. */
const shownIn = (page: string) =>
  read(page)
    .split('\n')
    .flatMap((line) => {
      const [shown, words = ''] =
        /(?:^ {4}|^\| `|npm run )daypass (?:-- )?([a-z][a-z-]*(?: [a-z][a-z-]*)?)[^`]*/.exec(line) ?? [];
      if (shown === undefined) return [];
      const spans = [shown, ...(line.match(/(?<=`)--[^`]+(?=`)/g) ?? [])];
      return [{ line, words: words.split(' '), options: spans.flatMap((span) => span.match(/--[a-z][\w-]+/g) ?? []) }];
    });

it.runIf(absentCapabilities.length === 0)('pages show commands and options that exist', async () => {
  const parser = await commandLine();
  const exists = ({ words: [name, second], options }: ReturnType<typeof shownIn>[number]) => {
    const command = parser.commands.find((one) => one.name() === name);
    if (command === undefined) return coreCommands.has(name ?? '');
    const isOfMany = command.commands.length > 0 && second !== undefined;
    const meant = isOfMany ? command.commands.filter((one) => one.name() === second) : [command, ...command.commands];
    const known = new Set(['--help', ...meant.flatMap((one) => one.options.map(({ long }) => long))]);
    return meant.length > 0 && options.every((option) => known.has(option));
  };
  const wrong = pages.flatMap((page) =>
    shownIn(page)
      .filter((shown) => !exists(shown))
      .map(({ line }) => `${page}: ${line}`),
  );
  expect(wrong).toEqual([]);
});

/** Files that a page tells its reader to create. */
const toBeCreated = new Set(['plugins/NAME/']);

it.each([...pages, ...globSync('docs/decisions/*.md', { cwd: root })])('%s names files that exist', (page) => {
  const paths = [...read(page).matchAll(/`((?:core|plugins|test|views|bench|\.ci|docs|migrations)\/[\w./-]*[\w/])`/g)];
  const missing = paths.map(([, path = '']) => path).filter((path) => !existsSync(join(root, path)) && !isAbsent(path));
  expect(missing.filter((path) => !toBeCreated.has(path))).toEqual([]);
});
