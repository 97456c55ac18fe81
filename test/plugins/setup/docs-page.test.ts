import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tools } from '../../../plugins/setup/tools.ts';
import { writeSettingsTable, writeTriedTable } from './docs-tables.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'setup.md'), 'utf8');
const tableIn = (name: string) => new RegExp(`<!-- ${name}: .* -->\n([^]*?)<!-- /${name} -->`).exec(page)?.[1];

it('docs/setup.md lists what the script writes for every tool', () => {
  expect(tableIn('tools')).toBe(writeSettingsTable());
});

it('docs/setup.md lists every tool that npm run test:tools has run, with its version', () => {
  expect(tableIn('tried')).toBe(writeTriedTable());
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
