import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { Eta } from 'eta';
import type { ScriptData } from './script-data.ts';
import { hereDocument, writeData } from './write-data.ts';

const here = import.meta.dirname;

/** A file that a script carries. */
export interface CarriedFile {
  readonly name: string;
  readonly text: string;
}

/** Scripts are no HTML: what is printed is quoted where it is made. */
export const eta = new Eta({
  views: join(here, '..', '..', '..', 'views', 'setup'),
  autoEscape: false,
  autoTrim: [false, false],
});

/** setup.sh for this gateway. Reads its parts from disk. */
export function renderShell(data: ScriptData): string {
  const { service, slug, baseUrl, keyVariable } = data;
  const sources = inOrder(carriedFiles('sh', '.sh'));
  return eta.render('./setup.sh.eta', {
    service,
    slug,
    baseUrl,
    keyVariable,
    data: writeData(data),
    helpers: writeHelpers(),
    sources,
  });
}

/** All files of a folder beside this one with this extension, by name. */
export function carriedFiles(folder: string, extension: string): CarriedFile[] {
  return readdirSync(join(here, folder))
    .filter((name) => extname(name) === extension)
    .toSorted()
    .map((name) => ({ name, text: readFileSync(join(here, folder, name), 'utf8').trimEnd() }));
}

/** `base` first, because the others use what it defines, and `main` last. */
export function inOrder(files: readonly CarriedFile[]): CarriedFile[] {
  const rank = ({ name }: CarriedFile) => ['base', 'main'].indexOf(basename(name, extname(name)));
  const [first, last] = [0, 1].map((wanted) => files.filter((file) => rank(file) === wanted));
  return [...(first ?? []), ...files.filter((file) => rank(file) === -1), ...(last ?? [])];
}

/** A function that writes the editing programs for one of two languages into a folder. */
function writeHelpers(): string {
  const cases = [
    { language: 'node', extension: '.mjs' },
    { language: 'python3', extension: '.py' },
  ].map(({ language, extension }) => {
    const files = carriedFiles('edit', extension).map(({ name, text }) => `cat >"$2/${name}" ${hereDocument(text)}`);
    return `    ${language})\n${files.join('')};;\n`;
  });
  return `write_helper() {\n  case $1 in\n${cases.join('')}  esac\n}\n`;
}
