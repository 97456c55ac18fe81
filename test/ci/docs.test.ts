import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { vendors } from '../../plugins/upstream/vendors.ts';

const root = join(import.meta.dirname, '..', '..');
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
  const [, list = ''] = /^ {4}plugins\/([^]*?)^ {4}views\//m.exec(read('docs/architecture.md')) ?? [];
  const named = new Set(list.match(/^ {6}[\w -]+?(?= {2})/gm)?.flatMap((names) => names.trim().split(' ')));
  expect(foldersOf('plugins').filter((folder) => !named.has(folder.slice('plugins/'.length)))).toEqual([]);
});

it('README.md lists every vendor preset', () => {
  const [, list = ''] = /^Vendor presets: ([^]*?)\n\n/m.exec(read('README.md')) ?? [];
  expect(vendors.map(({ name }) => name).filter((name) => !list.includes(`\`${name}\``))).toEqual([]);
});

const eventsIn = (text: string) => text.match(/(?<=['`])[a-z]+\.[a-z]+(?=['`])/g)?.toSorted();

it('operating.md lists every event of accounts, and no other', () => {
  const [, types = ''] =
    /^export interface EventTypes \{\n([^]*?)^\}/m.exec(read('core/gateway/events/events.ts')) ?? [];
  const [, section = ''] = /^## Events\n([^]*?)(?=^## |$(?![^]))/m.exec(read('docs/operating.md')) ?? [];
  expect(eventsIn(section)).toEqual(eventsIn(types));
});

it.each(globSync('{README.md,docs/*.md}', { cwd: root }))('%s names counters that exist', (page) => {
  const sources = globSync('{core,plugins}/**/*.ts', { cwd: root }).map(read).join('\n');
  const declared = [...sources.matchAll(/'(\w+_total)'/g)].map(([, name = '']) => name);
  const named = [...read(page).matchAll(/`(\w+_total)\b/g)].map(([, name = '']) => name);
  // The slug of the service may precede them.
  expect(named.filter((name) => !declared.some((one) => `_${name}`.endsWith(`_${one}`)))).toEqual([]);
});

/** Files that a page tells its reader to create. */
const toBeCreated = new Set(['plugins/NAME/', 'plugins/setup/tools/example.ts']);

it.each(globSync('{README.md,docs/*.md,docs/decisions/*.md}', { cwd: root }))('%s names files that exist', (page) => {
  const paths = [...read(page).matchAll(/`((?:core|plugins|test|views|bench|\.ci|docs|migrations)\/[\w./-]*[\w/])`/g)];
  const missing = paths.map(([, path = '']) => path).filter((path) => !existsSync(join(root, path)));
  expect(missing.filter((path) => !toBeCreated.has(path))).toEqual([]);
});
