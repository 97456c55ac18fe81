import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A module of the program, with its dependencies in front of it. */
interface Module {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

const here = import.meta.dirname;
const entry = 'program/main.mjs';

let known: string | undefined;

/**
 * The program as one readable file, without its data: each module becomes a function that gives its exports, and imports of the
 * runtime stand at the top.
 *
 * @throws Error for an import or export in a form that this does not know
 */
export function programText(): string {
  known ??= write(collect(entry, new Map()));
  return known;
}

function collect(path: string, found: Map<string, Module>): Map<string, Module> {
  const text = readFileSync(join(here, path), 'utf8');
  for (const [, specifier = ''] of text.matchAll(/ from '(\.[^']+)';$/gm)) {
    const next = join(dirname(path), specifier);
    if (!found.has(next)) collect(next, found);
  }
  const name = path
    .replace(/^.*\//, '')
    .replace('.mjs', '')
    .replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return found.set(path, { path, name: path.startsWith('edit/') ? `edit_${name}` : `${name}_`, text });
}

function write(modules: Map<string, Module>): string {
  const imports = new Set(
    [...modules.values()].flatMap(({ text }) => text.match(/^import .* from 'node:.*';$/gm) ?? []),
  );
  const bodies = [...modules.values()].map((module) => wrap(module, modules));
  return `${[...imports].toSorted().join('\n')}\n${bodies.join('')}`;
}

/** The exports of a module are the values of an object of its name. */
function wrap({ path, name, text }: Module, modules: Map<string, Module>): string {
  const names = [...text.matchAll(/^export (?:class|const|function) (\w+)/gm)].map(([, exported]) => exported);
  const body = text
    .replaceAll(/^import .* from 'node:.*';\n/gm, '')
    .replaceAll(/^import \{([^}]*)\} from '(\.[^']+)';$/gm, (_, imported: string, specifier: string) => {
      const from = nameOf(join(dirname(path), specifier), modules);
      return `const {${imported.replaceAll(/(\w+) as (\w+)/g, '$1: $2')}} = ${from};`;
    })
    .replaceAll(/^import \* as (\w+) from '(\.[^']+)';$/gm, (_, local: string, specifier: string) => {
      return `const ${local} = ${nameOf(join(dirname(path), specifier), modules)};`;
    })
    .replaceAll(/^export (?=class|const|function)/gm, '');
  if (/^(import|export) /m.test(body)) throw new Error(`${path} has an import or export that cannot be carried`);
  return `\n// --- ${path}\n\nconst ${name} = (() => {\n${body.trimEnd()}\n\nreturn { ${names.join(', ')} };\n})();\n`;
}

function nameOf(path: string, modules: Map<string, Module>): string {
  const found = modules.get(path);
  if (found === undefined) throw new Error(`${path} is imported in a circle`);
  return found.name;
}
