import { printable } from '../logger.ts';

/** Longest text of a cell; the rest is cut. */
const longestCell = 60;

/** Rows as columns for people, under a heading. Foreign text cannot control the terminal. */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(shorten));
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => [...(row[column] ?? '')].length)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length)))
      .join('  ')
      .trimEnd();
  return [heading, ...cells].map(line);
}

/** Names and values below each other; fields without a value are left out. */
export function formatFields(fields: readonly (readonly [name: string, value: string | undefined])[]): string[] {
  const known = fields.filter((field): field is readonly [string, string] => field[1] !== undefined);
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${printable(value).replaceAll('\n', ' ')}`);
}

/** A time as operators read it: `2026-11-22 06:15` in UTC. */
export function formatTime(time: Date | undefined): string {
  return time === undefined ? '' : time.toISOString().slice(0, 16).replace('T', ' ');
}

function shorten(text: string): string {
  const line = printable(text).replaceAll('\n', ' ');
  const characters = [...line];
  return characters.length <= longestCell ? line : `${characters.slice(0, longestCell - 1).join('')}…`;
}
