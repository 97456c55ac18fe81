/**
 * Holds the house in order: imports go plugins → core, no plugin knows another, nothing of the product knows tests, imports
 * inside core only go down its floors, plugins import what their contract lists (.ci/plugin-contract.yaml), and neither modules nor the folders of a folder form a cycle, type imports included.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import manifest from '../package.json' with { type: 'json' };
import {
  describeCycle,
  findDevelopmentImports,
  findFileCycles,
  findFolderCycles,
  findForbidden,
  findOutsideContract,
  type PluginContract,
} from './import-rules.ts';
import { readModuleGraph } from './module-graph.ts';

const root = join(import.meta.dirname, '..');
const development = new Set(Object.keys(manifest.devDependencies));
const graph = readModuleGraph(root);
const contract = parse(readFileSync(join(root, '.ci/plugin-contract.yaml'), 'utf8')) as PluginContract;
const files = [...graph.keys()];
const mistakes = [
  ...[...graph].flatMap(([file, targets]) => targets.filter(isMissing).map((target) => missing(file, target))),
  ...findForbidden(graph),
  ...findOutsideContract(graph, contract),
  ...files.flatMap((file) => findDevelopmentImports(file, readFileSync(join(root, file), 'utf8'), development)),
  ...findFileCycles(graph),
  ...findFolderCycles(graph).map(describeCycle),
];

for (const line of mistakes) console.error(line);
if (mistakes.length > 0) process.exit(1);
console.log(`imports: ${files.length} files, directions kept, no cycle`);

function isMissing(target: string): boolean {
  return !graph.has(target) && !existsSync(join(root, target));
}

function missing(file: string, target: string): string {
  return `${file}: imports ${target}, which does not exist`;
}
