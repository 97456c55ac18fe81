/** Builds the module graph from the text of the modules. */
import { dirname, join, normalize } from 'node:path';
import type { ModuleGraph } from './import-rules.ts';
import type { SourceTree } from './source-tree.ts';

const statement =
  /^(?:import|export)\s+(?:type\s)?[^;'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

/** Includes type imports and JSON. */
export function readModuleGraph(tree: SourceTree): ModuleGraph {
  const files = tree.find('{core,plugins,migrations,test,bench,docs,.ci}/**/*.ts');
  return new Map(files.map((file) => [file, tree.derive(file, importsOf)]));
}

function importsOf(text: string, file: string): string[] {
  return text
    .matchAll(statement)
    .map(([, from, bare, dynamic]) => resolveSpecifier(file, from ?? bare ?? dynamic ?? ''))
    .filter((target) => target !== '')
    .toArray();
}

/** Returns '' for packages and built-ins. */
export function resolveSpecifier(file: string, specifier: string): string {
  if (specifier.startsWith('#core/')) return normalize(specifier.slice(1));
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : '';
}
