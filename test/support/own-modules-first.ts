import { resolveOwnModules } from '../../core/own-modules.mjs';

/*
 * Vitest reports each import, thousands per worker, to its main process, for the graph that `--watch` reads. Hooks that are registered last
 * run first, so imports between the gateway's own modules are resolved before Vitest sees them.
 */

const key = Symbol.for('daypass.own-modules-first');
const registered = globalThis as { [key]?: true };
// Test files share a process.
if (registered[key] === undefined) {
  registered[key] = true;
  resolveOwnModules();
}
