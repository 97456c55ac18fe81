import { styleText } from 'node:util';
import { printable } from '#core/platform/logger.ts';
import { localTime } from '#core/platform/timing/time-zone.ts';

const defaultCellLength = 60;

/** Colours and weights of a terminal, by their names in `util.styleText`. */
export type TextStyle = Parameters<typeof styleText>[0];

/** A text, optionally with its style on a terminal. */
export type TextCell = string | { readonly text: string; readonly style: TextStyle };

export interface TableOptions {
  /** Indexes of numeric columns, which are right-aligned. */
  readonly numbers?: readonly number[];
  /** Minimum widths of the columns, for tables that are continued later. */
  readonly widths?: readonly number[];
  /** Maximum characters of a cell in the last column; other columns keep the default. */
  readonly longest?: number;
}

/** Formats rows as columns under a heading. Foreign text cannot control the terminal. */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly TextCell[])[],
  { numbers = [], widths: least = [], longest = defaultCellLength }: TableOptions = {},
): string[] {
  const cells = [heading, ...rows].map((row) =>
    row.map((cell, column) => toCell(cell, column === heading.length - 1 ? longest : defaultCellLength)),
  );
  const widths = heading.map((_, column) =>
    Math.max(least[column] ?? 0, ...cells.map((row) => [...(row[column]?.text ?? '')].length)),
  );
  return cells.map((row) =>
    row
      .map(({ text, style }, column) => {
        const space = ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...text].length));
        const painted = style === undefined ? text : paint(style, text);
        return numbers.includes(column) ? space + painted : painted + space;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Formats rows as indented columns without a heading and without cutting text. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, { length }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, length);
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}

/** Colours a text for the terminal; returns it unchanged if stdout is not a terminal or NO_COLOR is set. */
export function paint(style: TextStyle, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

function toCell(cell: TextCell, longest: number): { readonly text: string; readonly style?: TextStyle } {
  if (typeof cell === 'string') return { text: shorten(cell, longest) };
  return { text: shorten(cell.text, longest), style: cell.style };
}

/** Formats a heading with lines below it; no heading without lines. */
export function formatSection(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

/** Formats names and values, one per line; fields without a value are left out. */
export function formatFields(fields: readonly (readonly [name: string, value: string | null | undefined])[]): string[] {
  const known = fields.filter((field): field is readonly [string, string] => typeof field[1] === 'string');
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${printable(value).replaceAll('\n', ' ')}`);
}

/** Formats a time as `2026-11-22 06:15`, with seconds if `isExact`; '' without a time. */
export function formatTime(time: Date | undefined, timeZone: string, isExact = false): string {
  if (time === undefined) return '';
  const { day, clock } = localTime(time, timeZone);
  return `${day} ${isExact ? clock : clock.slice(0, 5)}`;
}

/** Replaces the special spaces of page texts by plain ones, so that the text can be typed into a search. */
export function plain(text: string): string {
  return text.replaceAll('\u00A0', ' ');
}

function shorten(text: string, longest: number): string {
  const line = printable(text).replaceAll('\n', ' ');
  const characters = [...line];
  return characters.length <= longest ? line : `${characters.slice(0, longest - 1).join('')}…`;
}
