/**
 * Text that spreadsheets would run as a formula (the signs for languages with wide letters, too). It begins a cell also behind
 * semicolons, tabs and line ends inside of a text: where Excel separates by semicolons, as in Indonesian, quotes do not
 * keep a cell together that commas separate.
 */
const formulas = /(?<=(?:^|[;\t\r\n])["\s]*)[=+\-@＝＋－＠]/g;
const blankStart = /^[\t\r\n]/;
/**
 * Text that spreadsheets would take for a number and show as another one: they keep 15 digits, drop zeros in front, and read 12E5 as
 * 1200000.
 */
const misreadNumber = /^\s*(?:0\d+|\d{16,}|(?:\d+(?:[.,]\d*)?|[.,]\d+)E[+-]?\d+)\s*$/i;

/**
 * One line of a CSV file (RFC 4180, without its end). A text that a spreadsheet would run as a formula, or show as another number, gets
 * an apostrophe in front; numbers stay as they are.
 */
export function csvLine(values: readonly (string | number | undefined)[]): string {
  return values.map(toCell).join(',');
}

function toCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const escaped = value.replace(formulas, `'$&`);
  const text = blankStart.test(escaped) || misreadNumber.test(escaped) ? `'${escaped}` : escaped;
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
