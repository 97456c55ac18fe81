import { styleText } from 'node:util';
import { escapeControls } from '#core/platform/logger.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';

const defaultCellLength = 60;

/** A terminal color or weight, by its name in `util.styleText`. */
export type TextStyle = Parameters<typeof styleText>[0];

export type TextCell = string | { readonly text: string; readonly style: TextStyle };

export interface TableOptions {
  /** Indexes of the numeric columns, which are right-aligned. */
  readonly numericColumns?: readonly number[];
  /** Minimum column widths, for tables that get more rows later. */
  readonly minWidths?: readonly number[];
  /** Maximum length of a cell in the last column, in characters; the other columns keep the default. */
  readonly maxLength?: number;
}

/** Formats rows as columns under a heading. Control characters are escaped, so that user-supplied text cannot control the terminal. */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly TextCell[])[],
  { numericColumns = [], minWidths = [], maxLength = defaultCellLength }: TableOptions = {},
): string[] {
  const cells = [heading, ...rows].map((row) =>
    row.map((cell, column) => toCell(cell, column === heading.length - 1 ? maxLength : defaultCellLength)),
  );
  const widths = heading.map((_, column) =>
    Math.max(minWidths[column] ?? 0, ...cells.map((row) => [...(row[column]?.text ?? '')].length)),
  );
  return cells.map((row) =>
    row
      .map(({ text, style }, column) => {
        const padding = ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...text].length));
        const styledText = style === undefined ? text : paint(style, text);
        return numericColumns.includes(column) ? padding + styledText : styledText + padding;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Formats rows as indented columns without a heading and without truncation. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, { length }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, length);
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}

/** Styles text for the terminal; returns it unchanged if stdout is not a terminal or NO_COLOR is set. */
export function paint(style: TextStyle, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

function toCell(cell: TextCell, maxLength: number): { readonly text: string; readonly style?: TextStyle } {
  if (typeof cell === 'string') return { text: shorten(cell, maxLength) };
  return { text: shorten(cell.text, maxLength), style: cell.style };
}

/** Formats a heading and, below it, indented lines; returns nothing if there are no lines. */
export function formatSection(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

/** Formats `name value` pairs, one per line. Fields without a value are omitted. */
export function formatFields(fields: readonly (readonly [name: string, value: string | null | undefined])[]): string[] {
  const filledFields = fields.filter((field): field is readonly [string, string] => typeof field[1] === 'string');
  const width = Math.max(0, ...filledFields.map(([name]) => name.length));
  return filledFields.map(([name, value]) => `${name.padEnd(width)}  ${escapeControls(value).replaceAll('\n', ' ')}`);
}

/** Formats a time as `2026-11-22 06:15`, with seconds if `isExact`; returns '' if there is no time. */
export function formatTime(time: Date | undefined, timeZone: string, isExact = false): string {
  if (time === undefined) return '';
  const { day, clock } = formatLocalTime(time, timeZone);
  return `${day} ${isExact ? clock : clock.slice(0, 5)}`;
}

/** Replaces the no-break spaces in page texts with plain spaces, so that typed searches match the output. */
export function toPlainSpaces(text: string): string {
  return text.replaceAll('\u00A0', ' ');
}

function shorten(text: string, maxLength: number): string {
  const line = escapeControls(text).replaceAll('\n', ' ');
  const characters = [...line];
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`;
}
