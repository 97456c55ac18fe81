/**
 * Checks the layering: plugins import core, never each other; the product never imports tests; within core, imports only go down the
 * floors; plugins import only what their contract lists (.ci/plugin-contract.yaml); and neither modules nor sibling folders form a cycle,
 * type imports included.
 */
import { join } from 'node:path';
import { checkImports } from './import-check.ts';
import { openTree } from './source-tree.ts';

const { mistakes, modules } = checkImports(openTree(join(import.meta.dirname, '..')));
for (const line of mistakes) console.error(line);
if (mistakes.length > 0) process.exit(1);
console.log(`imports: ${modules} files, directions kept, no cycle`);
