/**
 * Holds the house in order: imports go plugins → core, no plugin knows another, nothing of the product knows tests, imports
 * inside core only go down its floors, plugins import what their contract lists (.ci/plugin-contract.yaml), and neither modules nor the folders of a folder form a cycle, type imports included.
 */
import { join } from 'node:path';
import { checkImports } from './import-check.ts';
import { openTree } from './source-tree.ts';

const { mistakes, modules } = checkImports(openTree(join(import.meta.dirname, '..')));
for (const line of mistakes) console.error(line);
if (mistakes.length > 0) process.exit(1);
console.log(`imports: ${modules} files, directions kept, no cycle`);
