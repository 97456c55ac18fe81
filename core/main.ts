import { ignoreBrokenPipe, ignoreClosedOutput } from '#core/platform/output.ts';
import { findCommandWord } from '#core/process/command-word.ts';
import { disableInspector, StopSignals } from '#core/process/stop-signals.ts';

const exitGraceMs = 250; // lets buffered output drain

const args = process.argv.slice(2);
const command = findCommandWord(args);
// Created before the slow import: until there is a handler, a signal kills the process.
const signals = command === 'start' ? new StopSignals() : undefined;
if (signals === undefined) {
  disableInspector();
  ignoreBrokenPipe();
} else ignoreClosedOutput();
const { runCommandLine } = await import('#core/process/command-line.ts');

process.exitCode = await runCommandLine(args, signals);
// Forces the exit: a failed command, or `check`, which starts plugins without serving, may leave timers or sockets open.
if (process.exitCode !== 0 || command === 'check') setTimeout(() => process.exit(), exitGraceMs).unref();
