/** Reads which module imports which, from the text of the modules. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { ModuleGraph } from './import-rules.ts';

const statement =
  /^(?:import|export)\s+(?:type\s)?[^;'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

/** The modules of the project below `root`, with what each imports of it: type imports and JSON included. */
export function readModuleGraph(root: string): ModuleGraph {
  const files = globSync('{core,plugins,migrations,test,bench,docs,.ci}/**/*.ts', { cwd: root });
  return new Map(
    files.map((file) => [normalize(file), importsOf(normalize(file), readFileSync(join(root, file), 'utf8'))]),
  );
}

function importsOf(file: string, text: string): string[] {
  return text
    .matchAll(statement)
    .map(([, from, bare, dynamic]) => resolveSpecifier(file, from ?? bare ?? dynamic ?? ''))
    .filter((target) => target !== '')
    .toArray();
}

/** The file in this project that a specifier names, or nothing for packages and built-ins. */
export function resolveSpecifier(file: string, specifier: string): string {
  if (specifier.startsWith('#core/')) return normalize(specifier.slice(1));
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : '';
}
