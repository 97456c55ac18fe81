import { open } from 'node:fs/promises';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { ImportError } from './members.ts';
import { parseCsv } from './parse-csv.ts';

const maxBytes = 64 * 1024 * 1024; // a table of 100,000 users takes about 30 MB
const maxYamlBytes = 4 * 1024 * 1024; // written by hand; only a few MB are parsed per second

export async function readTextFile(path: string): Promise<string> {
  await using file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(`cannot be read (${error.code})`);
  });
  const stat = await file.stat();
  if (!stat.isFile()) throw new ImportError('is not a file');
  if (stat.size > maxBytes) throw new ImportError(`is larger than ${maxBytes / 1024 / 1024} MB`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } catch {
    throw new ImportError('is not UTF-8');
  }
}

/** Parses JSON (with comments and trailing commas), YAML or CSV. An ImportError gives the position of the mistake. */
export function parseText(text: string): unknown {
  if (text.trim() === '') throw new ImportError('is empty');
  try {
    if (/^\s*[[{]/.test(text)) return parseJson(text);
    return isCsv(text) ? parseCsv(text) : parseYaml(text, 'YAML');
  } catch (error) {
    if (error instanceof RangeError) throw new ImportError('is nested too deeply');
    throw error;
  }
}

function isCsv(text: string): boolean {
  const [firstLine = ''] = text.split(/\r?\n/, 1);
  // The first line of CSV has names separated by commas. A line of YAML has a colon or a dash.
  return /^(?:"\w+"|\w+)(?:,(?:"\w+"|\w+))+$/.test(firstLine);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    // Inside brackets, YAML allows JSON syntax and trailing commas.
    return parseYaml(removeComments(text), 'JSON');
  }
}

function removeComments(text: string): string {
  // Unterminated strings and comments match to the end of the text, so nothing is scanned twice.
  return text.replaceAll(/"(?:[^"\\]|\\[^])*"?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g, (token) =>
    token.startsWith('"') ? token : token.replaceAll(/[^\n]/g, ' '),
  );
}

function parseYaml(text: string, format: string): unknown {
  if (text.length > maxYamlBytes)
    throw new ImportError(`is not valid JSON, or is ${format} of more than ${maxYamlBytes / 1024 / 1024} MB`);
  const document = parseYamlDocument(text);
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = error.linePos?.[0] ?? { line: 1, col: 1 };
    throw new ImportError(`line ${line}, column ${col}: is not valid ${format}`);
  }
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (failure) {
    if (failure instanceof RangeError) throw failure;
    throw new ImportError('has more aliases (*name) than a configuration needs');
  }
}

function parseYamlDocument(text: string, lineCounter = new LineCounter()): Document {
  return parseDocument(text, { lineCounter, logLevel: 'silent', prettyErrors: true });
}

/** Returns `line 12: `, or '' if the line is unknown. */
export function findLinePrefix(text: string, path: string | undefined): string {
  if (path === undefined || text.length > maxYamlBytes) return '';
  const lines = new LineCounter();
  try {
    const document = parseYamlDocument(text, lines);
    const names = (path.match(/[^.[\]]+/g) ?? []).map((name) => (/^\d+$/.test(name) ? Number(name) : name));
    for (let length = names.length; length > 0; length--) {
      const node = document.getIn(names.slice(0, length), true) as { readonly range?: readonly number[] } | undefined;
      const offset = node?.range?.[0];
      if (offset !== undefined) return `line ${lines.linePos(offset).line}: `;
    }
  } catch {
    // The file is a CSV table, or nested too deeply.
  }
  return '';
}
