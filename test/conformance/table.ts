import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TextFormat, textFormats, upstreamTextFormats } from '../support/formats.ts';
import type { Outcome } from './cell.ts';
import { features } from './features.ts';
import { losses } from './losses.ts';
import { descriptions } from './vendors/descriptions.ts';
import { vendorLosses } from './vendors/losses.ts';

/** A cell of either part. */
export interface PlayedCell {
  readonly client: TextFormat;
  readonly upstream: string; // format or vendor
  readonly feature: string;
  readonly isStream: boolean;
}

export interface Line<C extends PlayedCell = PlayedCell> {
  readonly cell: C;
  readonly outcome: Outcome;
}

/** Every loss, in the order of its number. */
const lossNames = [...new Set([...losses.map(({ name }) => name), ...vendorLosses.map(({ loss }) => loss)])];

const page = join(import.meta.dirname, '..', '..', 'docs', 'conformance.md');
const begin = '<!-- begin of the table -->';
const end = '<!-- end of the table -->';

/** The table of each client format on each upstream format, that of vendors, and the numbered losses. */
export function writeTables(lines: readonly Line[], vendorLines: readonly Line[]): string {
  const tables = [writeTable(lines), writeVendorTable(vendorLines), writeReasons(vendorLines)];
  return [...tables, writeLosses([...lines, ...vendorLines])].filter((text) => text !== '').join('\n\n');
}

/** One table per client format, with features down and upstream formats across. */
export function writeTable(lines: readonly Line[]): string {
  const tables = textFormats.flatMap((client) => {
    const own = lines.filter(({ cell }) => cell.client === client);
    return own.length === 0 ? [] : [tableOf(client, own)];
  });
  return tables.join('\n\n');
}

/** Vendors down, clients across: what is lost in any scenario. */
export function writeVendorTable(lines: readonly Line[]): string {
  if (lines.length === 0) return '';
  const rows = Map.groupBy(lines, ({ cell }) => cell.upstream);
  const head = `| vendor | ${textFormats.map((client) => `${client} client`).join(' | ')} |`;
  return [
    head,
    `| --- |${textFormats.map(() => ' --- |').join('')}`,
    ...[...rows].map(([vendor, own]) => {
      const cells = textFormats.map((client) => sumOf(own.filter(({ cell }) => cell.client === client)));
      return `| ${vendor} | ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

/** Which vendors lose what, and why. */
export function writeReasons(lines: readonly Line[]): string {
  const played = new Set(lines.map(({ cell }) => cell.upstream));
  const rows = vendorLosses
    .filter((entry) => entry.vendors.some((vendor) => played.has(vendor)))
    .map(({ loss, vendors, reason }) => `| ${numberOf(loss)} | ${nameVendors(vendors)} | ${reason} |`);
  return rows.length === 0 ? '' : ['| loss | vendors | reason |', '| --- | --- | --- |', ...new Set(rows)].join('\n');
}

function nameVendors(names: readonly string[]): string {
  const others = descriptions.map(({ name }) => name).filter((name) => !names.includes(name));
  return others.length < names.length ? `all but ${others.join(', ')}` : names.join(', ');
}

function sumOf(lines: readonly Line[]): string {
  const failed = lines.filter(({ outcome }) => outcome.verdict === 'fail').length;
  if (failed > 0) return `FAIL (${failed})`;
  const lost = new Set(lines.flatMap(({ outcome }) => losesOf(outcome).map(numberOf)));
  return lost.size === 0 ? 'pass' : `loss ${[...lost].toSorted((one, other) => one - other).join(', ')}`;
}

function writeLosses(lines: readonly Line[]): string {
  const known = lossNames.filter((name) => lines.some(({ outcome }) => losesOf(outcome).includes(name)));
  const named = known.map((name) => `${numberOf(name)}. ${name}`);
  return named.length === 0 ? '' : `Losses:\n\n${named.join('\n')}`;
}

/** One entry per failed cell. */
export function describeFailures(lines: readonly Line[]): string[] {
  return lines.flatMap(({ cell, outcome }) =>
    outcome.verdict === 'fail' ? [`${describeCell(cell)}\n${outcome.why}`] : [],
  );
}

export function describeCell({ client, upstream, feature, isStream }: PlayedCell): string {
  return `${client} by ${upstream}, ${feature}, ${isStream ? 'streamed' : 'whole'}`;
}

/** Writes the tables into the documentation, between its two marks. */
export async function writePage(lines: readonly Line[], vendorLines: readonly Line[]): Promise<void> {
  const text = await readFile(page, 'utf8');
  const [before, rest = ''] = text.split(begin);
  const after = rest.split(end)[1] ?? '';
  await writeFile(page, `${before}${begin}\n\n${writeTables(lines, vendorLines)}\n\n${end}${after}`);
}

function tableOf(client: string, lines: readonly Line[]): string {
  const head = `| ${client} client | ${upstreamTextFormats.join(' | ')} |`;
  const rows = features
    .filter(({ name }) => lines.some(({ cell }) => cell.feature === name))
    .map(({ name }) => {
      const cells = upstreamTextFormats.map((upstream) =>
        cellOf(lines.filter(({ cell }) => cell.feature === name && cell.upstream === upstream)),
      );
      return `| ${name} | ${cells.join(' | ')} |`;
    });
  return [head, `| --- |${upstreamTextFormats.map(() => ' --- |').join('')}`, ...rows].join('\n');
}

/** Streamed and whole together where they are equal. */
function cellOf(lines: readonly Line[]): string {
  const words = lines.map(({ cell, outcome }) => ({
    word: wordOf(outcome),
    kind: cell.isStream ? 'streamed' : 'whole',
  }));
  const [first] = words;
  if (first === undefined) return '';
  if (words.every(({ word }) => word === first.word)) return first.word;
  return words.map(({ word, kind }) => `${kind}: ${word}`).join(', ');
}

function wordOf(outcome: Outcome): string {
  if (outcome.verdict === 'absent') return '–';
  if (outcome.verdict === 'loss') return `loss ${outcome.losses.map(numberOf).join(', ')}`;
  return outcome.verdict === 'fail' ? 'FAIL' : 'pass';
}

function losesOf(outcome: Outcome): readonly string[] {
  return outcome.verdict === 'loss' ? outcome.losses : [];
}

function numberOf(name: string): number {
  return lossNames.indexOf(name) + 1;
}
