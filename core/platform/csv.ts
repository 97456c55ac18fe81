/** What spreadsheets would run as a formula; those for languages with wide letters, also after a wide sign. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

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
  const text = formula.test(value) ? `'${value}` : value;
  return /[",;\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
