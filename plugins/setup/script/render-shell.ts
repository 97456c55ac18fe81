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

/** A part of a script, with the first sentence of its comment. */
export interface ScriptPart extends CarriedFile {
  readonly title: string;
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
  const sources = scriptParts(carriedFiles('sh', '.sh'));
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

/** How the parts of both scripts are best read: what happens, then how, then what it is made of. Others come first. */
const readingOrder = `
  main options setup detect models key plan compute blocks variables commit
  undo undo-file remove orphans former gateways verify ask-model question list
  state records http clients client-programs json helper report diff difference
  suggest paths content base
`.split(/\s+/);

/** Each part defines functions; what it does beside that needs no other part, so that they may be in any order. */
export function scriptParts(files: readonly CarriedFile[]): ScriptPart[] {
  const place = ({ name }: CarriedFile) => readingOrder.indexOf(basename(name, extname(name)));
  return files.toSorted((a, b) => place(a) - place(b)).map((file) => ({ ...file, title: titleOf(file) }));
}

/** @throws Error for a part that does not begin with a sentence in a comment */
function titleOf({ name, text }: CarriedFile): string {
  const [comment = ''] = /^(# .*\n)+/.exec(text) ?? [];
  const sentence = /^(.+?)\.(?: |$)/.exec(comment.replaceAll(/^# /gm, '').replaceAll('\n', ' '))?.[1];
  if (sentence === undefined) throw new Error(`${name} does not begin with a sentence`);
  return sentence;
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
