/**
 * Text that spreadsheets would run as a formula (the signs for languages with wide letters, too). It begins a cell also behind
 * semicolons, tabs and line ends inside of a text: where Excel separates by semicolons, as in Indonesian, quotes do not
 * keep a cell together that commas separate.
 */
const formulas = /(?<=(?:^|[;\t\r\n])["\s]*)[=+\-@＝＋－＠]/g;
const blankStart = /^[\t\r\n]/;

/**
 * One line of a CSV file (RFC 4180, without its end). A text that a spreadsheet would run as a formula gets an apostrophe in
 * front; numbers stay as they are.
 */
export function csvLine(values: readonly (string | number | undefined)[]): string {
  return values.map(toCell).join(',');
}

function toCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const escaped = value.replace(formulas, `'$&`);
  const text = blankStart.test(escaped) ? `'${escaped}` : escaped;
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
