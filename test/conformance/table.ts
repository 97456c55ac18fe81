import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { textFormats, upstreamTextFormats } from '../support/formats.ts';
import type { Cell, Outcome } from './cell.ts';
import { features } from './features.ts';
import { losses } from './losses.ts';

export interface Line {
  readonly cell: Cell;
  readonly outcome: Outcome;
}

const page = join(import.meta.dirname, '..', '..', 'docs', 'conformance.md');
const begin = '<!-- begin of the table -->';
const end = '<!-- end of the table -->';

/** One table per client format, with features down and upstream formats across, and the numbered losses. */
export function writeTable(lines: readonly Line[]): string {
  const tables = textFormats.flatMap((client) => {
    const own = lines.filter(({ cell }) => cell.client === client);
    return own.length === 0 ? [] : [tableOf(client, own)];
  });
  const known = losses
    .map(({ name }) => name)
    .filter((name) => lines.some(({ outcome }) => losesOf(outcome).includes(name)));
  const named = known.map((name) => `${numberOf(name)}. ${name}`);
  return [...tables, ...(named.length === 0 ? [] : [`Losses:\n\n${named.join('\n')}`])].join('\n\n');
}

/** One entry per failed cell. */
export function describeFailures(lines: readonly Line[]): string[] {
  return lines.flatMap(({ cell, outcome }) =>
    outcome.verdict === 'fail' ? [`${describeCell(cell)}\n${outcome.why}`] : [],
  );
}

export function describeCell({ client, upstream, feature, isStream }: Cell): string {
  return `${client} by ${upstream}, ${feature}, ${isStream ? 'streamed' : 'whole'}`;
}

/** Writes the table into the documentation, between its two marks. */
export async function writePage(lines: readonly Line[]): Promise<void> {
  const text = await readFile(page, 'utf8');
  const [before, rest = ''] = text.split(begin);
  const after = rest.split(end)[1] ?? '';
  await writeFile(page, `${before}${begin}\n\n${writeTable(lines)}\n\n${end}${after}`);
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
  return losses.findIndex((loss) => loss.name === name) + 1;
}
