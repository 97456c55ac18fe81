#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Half of the time of a short command would be spent on removing types, and a sixth on loading what removes them: this file has
// none. The folder is that of the installation: another user could put code into one in the system's temporary folder. Where it is
// read-only, there is no cache.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'daypass'));
await import('./main.ts');
