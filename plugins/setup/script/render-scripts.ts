import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Eta } from 'eta';
import { renderAsciiJson, renderPowershellTable, renderShellTable } from './launcher-data.ts';
import type { ScriptData } from './script-data.ts';

const folder = import.meta.dirname;

const eta = new Eta({
  views: join(folder, '..', '..', '..', 'views', 'setup'),
  // Scripts are not HTML: values are quoted where they are created, not by the template.
  autoEscape: false,
  autoTrim: [false, false],
});

/** Renders the launcher, with the program in a here-document. Reads the parts from disk. */
export function renderShell(data: ScriptData): string {
  const program = `${renderProgram()}\nmain_.main(${renderAsciiJson(data)});\n`;
  return eta.render('./setup.sh.eta', {
    ...data,
    tables: renderShellTable(data),
    launcher: readLauncher('setup.sh'),
    withoutRuntime: readLauncher('without-runtime.sh'),
    program: renderHereDocument(program),
  });
}

/**
 * Renders ASCII, because Windows PowerShell 5.1 guesses the encoding of scripts. Reads the parts from disk.
 *
 * @throws Error if the program contains a character outside ASCII, or text that would end the here-string
 */
export function renderPowershell(data: ScriptData): string {
  const program = renderProgram();
  if (/[^\n\x20-\x7e]/.test(program)) throw new Error('the program is not plain ASCII');
  if (/^'@/m.test(program)) throw new Error('the program has a line that ends a here-string');
  return eta.render('./setup.ps1.eta', {
    ...data,
    json: renderAsciiJson(data),
    table: renderPowershellTable(data),
    launcher: readLauncher('setup.ps1'),
    withoutRuntime: readLauncher('without-runtime.ps1'),
    program,
  });
}

function renderHereDocument(text: string): string {
  const lines = new Set(text.split('\n'));
  // The delimiter is quoted, so that the shell expands nothing, and must not be a line of the text.
  let delimiter = 'DATA';
  while (lines.has(delimiter)) delimiter += '_';
  return `<<'${delimiter}'\n${text.trimEnd()}\n${delimiter}\n`;
}

function readLauncher(name: string): string {
  return readFileSync(join(folder, 'launcher', name), 'utf8').trimEnd();
}

interface Module {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

const entry = 'program/main.mjs';

function renderProgram(): string {
  return joinModules(collectModules(entry, new Map()));
}

function collectModules(path: string, found: Map<string, Module>): Map<string, Module> {
  const text = readFileSync(join(folder, path), 'utf8');
  for (const [, specifier = ''] of text.matchAll(/ from '(\.[^']+)';$/gm)) {
    const next = join(dirname(path), specifier);
    if (!found.has(next)) collectModules(next, found);
  }
  const name = path
    .replace(/^.*\//, '')
    .replace('.mjs', '')
    .replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return found.set(path, { path, name: path.startsWith('edit/') ? `edit_${name}` : `${name}_`, text });
}

function joinModules(modules: Map<string, Module>): string {
  const imports = new Set(
    [...modules.values()].flatMap(({ text }) => text.match(/^import .* from 'node:.*';$/gm) ?? []),
  );
  const bodies = [...modules.values()].map((module) => wrapModule(module, modules));
  return `${[...imports].toSorted().join('\n')}\n${bodies.join('')}`;
}

function wrapModule({ path, name, text }: Module, modules: Map<string, Module>): string {
  const names = [...text.matchAll(/^export (?:class|const|function) (\w+)/gm)].map(([, exported]) => exported);
  const body = text
    .replaceAll(/^import .* from 'node:.*';\n/gm, '')
    .replaceAll(/^import \{([^}]*)\} from '(\.[^']+)';$/gm, (_, imported: string, specifier: string) => {
      const from = findModuleName(join(dirname(path), specifier), modules);
      return `const {${imported.replaceAll(/(\w+) as (\w+)/g, '$1: $2')}} = ${from};`;
    })
    .replaceAll(/^import \* as (\w+) from '(\.[^']+)';$/gm, (_, local: string, specifier: string) => {
      return `const ${local} = ${findModuleName(join(dirname(path), specifier), modules)};`;
    })
    .replaceAll(/^export (?=class|const|function)/gm, '');
  if (/^(import|export) /m.test(body)) throw new Error(`${path} has an unsupported import or export`);
  return `\n// --- ${path}\n\nconst ${name} = (() => {\n${body.trimEnd()}\n\nreturn { ${names.join(', ')} };\n})();\n`;
}

function findModuleName(path: string, modules: Map<string, Module>): string {
  const found = modules.get(path);
  if (found === undefined) throw new Error(`${path} is a circular import`);
  return found.name;
}
