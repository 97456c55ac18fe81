#!/usr/bin/env node
/** The oldest Node.js that has what the code needs, such as `using`. */
const oldest = 24;

// Before any import that an older one would not have. The message is all that a user of an older one sees.
if (Number.parseInt(process.versions.node, 10) < oldest) {
  console.error(
    `daypass needs Node.js ${oldest} or newer, and this is ${process.version}: install a newer one from https://nodejs.org`,
  );
  // As in platform/exit-codes.ts: no later start can succeed.
  process.exit(78);
}
const { setFlagsFromString } = await import('node:v8');
const { enableCompileCache } = await import('node:module');
const { join } = await import('node:path');

// V8 would collect all garbage twice by itself after half a minute of quiet, and what was compiled for the collected objects would go
// with it (docs/performance.md, "The price of quiet"; platform/memory/watch.ts collects instead): not within 24 days, the longest delay.
// Before its first collection, which starts the delay.
setFlagsFromString('--gc-memory-reducer-start-delay-ms=2147483647');

// Half of the time of a short command would be spent on removing types, and a sixth on loading what removes them: this file has
// none. The folder is that of the installation: another user could put code into one in the system's temporary folder. Where it is
// read-only, there is no cache.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'daypass'));
const { resolveOwnModules } = await import('./own-modules.mjs');
resolveOwnModules();
await import('#core/main.ts');
