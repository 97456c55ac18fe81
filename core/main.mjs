#!/usr/bin/env node
const minMajorVersion = 24; // the first with all language features in use, such as `using`

// Precedes all imports, because older versions lack some of those modules.
if (Number.parseInt(process.versions.node, 10) < minMajorVersion) {
  console.error(
    `daypass needs Node.js ${minMajorVersion} or newer, and this is ${process.version}: install a newer one from https://nodejs.org`,
  );
  // As in platform/exit-codes.ts: no later start can succeed.
  process.exit(78);
}
const { setFlagsFromString } = await import('node:v8');
const { enableCompileCache } = await import('node:module');
const { join } = await import('node:path');

// After half a minute of idle time, V8 would run two full collections and drop compiled code with them (docs/performance.md, "The price of
// quiet"); platform/memory/watch.ts collects instead. 24 days is the longest delay. Must be set before the first collection starts it.
setFlagsFromString('--gc-memory-reducer-start-delay-ms=2147483647');

// Without the cache, a short command would spend half its time on stripping types. This file has none, because loading the stripper takes
// another sixth. The cache is in the installation's folder, because other users could plant code in the system's temporary folder. If the
// folder is read-only, nothing is cached.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'daypass'));
const { resolveOwnModules } = await import('./own-modules.mjs');
resolveOwnModules();
await import('#core/main.ts');
