#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/** Ms in which the output of a command that has failed may drain. */
const exitGrace = 250;

// Half of the time of a short command would be spent on removing types. The folder is that of the installation: another
// user could put code into one in the system's temporary folder. Where it is read-only, there is no cache.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'daypass'));
const { runCommandLine } = await import('./command-line.ts');

// The reader may close the pipe early, as in `gateway check | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
process.exitCode = await runCommandLine(process.argv.slice(2));
// What a failure has left open, a timer of a plugin say, must not keep the process.
if (process.exitCode !== 0) setTimeout(() => process.exit(), exitGrace).unref();
