/**
 * Signs that start a formula in spreadsheets, including their full-width forms. Also matched after semicolons, tabs and line ends within a
 * text: where Excel separates by semicolons, as in Indonesian, quotes do not hold a cell together.
 */
const formulas = /(?<=(?:^|[;\t\r\n])["\s]*)[=+\-@＝＋－＠]/g;
const blankStart = /^[\t\r\n]/;
/** Text that spreadsheets would read as a number and change: they keep 15 digits, drop leading zeros, and read 12E5 as 1200000. */
const misreadNumber = /^\s*(?:0\d+|\d{16,}|(?:\d+(?:[.,]\d*)?|[.,]\d+)E[+-]?\d+)\s*$/i;

/**
 * Returns one line of a CSV file (RFC 4180), without the line end. Text that a spreadsheet would run as a formula, or show as another
 * number, gets a leading apostrophe; numbers are not changed.
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
