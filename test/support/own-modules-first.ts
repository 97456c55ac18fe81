import { resolveOwnModules } from '../../core/own-modules.mjs';

/*
 * Vitest tells its main process of each import, thousands in every worker, for the graph that `--watch` reads. Hooks that are registered
 * last run first: imports of the gateway's own modules by each other are resolved before Vitest sees them.
 */

const key = Symbol.for('daypass.own-modules-first');
const registered = globalThis as { [key]?: true };
// Files share a process.
if (registered[key] === undefined) {
  registered[key] = true;
  resolveOwnModules();
}
