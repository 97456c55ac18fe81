/**
 * Holds the house in order: imports go plugins → core, no plugin knows another, nothing of the product knows tests, imports
 * inside core only go down its floors, and neither modules nor the folders of a folder form a cycle, type imports included.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import {
  describeCycle,
  findDevelopmentImports,
  findFileCycles,
  findFolderCycles,
  findForbidden,
} from './import-rules.ts';

const root = join(import.meta.dirname, '..');
const statement =
  /^(?:import|export)\s+(?:type\s)?[^;'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

const files = globSync('{core,plugins,migrations,test,bench,docs}/**/*.ts', { cwd: root }).map((file) =>
  normalize(file),
);
const development = new Set(Object.keys(manifest.devDependencies));
const graph = new Map(files.map((file) => [file, importsOf(file)]));
const mistakes = [
  ...[...graph].flatMap(([file, targets]) => targets.filter(isMissing).map((target) => missing(file, target))),
  ...findForbidden(graph),
  ...files.flatMap((file) => findDevelopmentImports(file, readFileSync(join(root, file), 'utf8'), development)),
  ...findFileCycles(graph),
  ...findFolderCycles(graph).map(describeCycle),
];

for (const line of mistakes) console.error(line);
if (mistakes.length > 0) process.exit(1);
console.log(`imports: ${files.length} files, directions kept, no cycle`);

function importsOf(file: string): string[] {
  return readFileSync(join(root, file), 'utf8')
    .matchAll(statement)
    .map(([, from, bare, dynamic]) => resolve(file, from ?? bare ?? dynamic ?? ''))
    .filter((target) => target !== '')
    .toArray();
}

/** The file in this project that a specifier names, or nothing for packages and built-ins. */
function resolve(file: string, specifier: string): string {
  if (specifier.startsWith('#core/')) return normalize(specifier.slice(1));
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : '';
}

function isMissing(target: string): boolean {
  return !graph.has(target) && !existsSync(join(root, target));
}

function missing(file: string, target: string): string {
  return `${file}: imports ${target}, which does not exist`;
}
