import { ImportError } from './members.ts';

/** Parses CSV (RFC 4180) into rows, keyed by the header line. An ImportError names the line of the mistake. */
export function parseCsv(text: string): Record<string, string>[] {
  const [head, ...rows] = parseRows(text);
  const names = head?.cells ?? [];
  return rows.map(({ cells, line }) => {
    if (cells.length !== names.length)
      throw new ImportError(`line ${line}: has ${cells.length} fields, but the first line has ${names.length}`);
    return Object.fromEntries(names.map((name, index) => [name.trim(), nullToEmpty(cells[index] ?? '')]));
  });
}

interface CsvRow {
  readonly cells: string[];
  readonly line: number;
}

const nullToEmpty = (cell: string) => (cell === 'NULL' || cell === '\\N' ? '' : cell);

function parseRows(text: string): CsvRow[] {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let line = 1;
  let firstLine = 1;
  while (field.lastIndex < text.length || cells.length > 0) {
    const match = field.exec(text);
    if (match === null) throw new ImportError(`line ${line}: a quote is missing, or is in the middle of a field`);
    const [fieldText, quoted, unquoted = '', separator] = match;
    cells.push(quoted?.replaceAll('""', '"') ?? unquoted);
    line += fieldText.split('\n').length - 1;
    if (separator === ',') continue;
    if (cells.length > 1 || cells[0] !== '') rows.push({ cells, line: firstLine });
    cells = [];
    firstLine = line;
    if (fieldText === '') break;
  }
  return rows;
}
