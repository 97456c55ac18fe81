/**
 * Characters that start a formula in spreadsheets, including their full-width forms. Also matched after semicolons, tabs and line ends
 * inside a text, because Excel splits quoted cells at semicolons in locales that use them as separators, such as Indonesian.
 */
const formulaStart = /(?<=(?:^|[;\t\r\n])["\s]*)[=+\-@＝＋－＠]/g;
const blankStart = /^[\t\r\n]/;
/** Text that spreadsheets convert to a number: they keep 15 digits, drop leading zeros, and read 12E5 as 1200000. */
const misreadNumber = /^\s*(?:0\d+|\d{16,}|(?:\d+(?:[.,]\d*)?|[.,]\d+)E[+-]?\d+)\s*$/i;

/**
 * Returns one line of a CSV file (RFC 4180), without the line end. Text that a spreadsheet would run as a formula, or convert to a number,
 * gets a leading apostrophe; numbers are unchanged.
 */
export function formatCsvLine(values: readonly (string | number | undefined)[]): string {
  return values.map(formatCell).join(',');
}

function formatCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const escaped = value.replace(formulaStart, `'$&`);
  const text = blankStart.test(escaped) || misreadNumber.test(escaped) ? `'${escaped}` : escaped;
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
