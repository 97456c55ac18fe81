import { commandWord } from '#core/process/command-word.ts';
import { refuseInspector, StopSignals } from '#core/process/stop-signals.ts';
import { endQuietly, surviveLostOutput } from '#core/platform/output.ts';

/** Ms in which the output of a command that has failed may drain. */
const exitGrace = 250;

const words = process.argv.slice(2);
const command = commandWord(words);
// Before anything slow: until there is a listener, a signal ends the process as the system sees fit.
const signals = command === 'start' ? new StopSignals() : undefined;
if (signals === undefined) {
  refuseInspector();
  endQuietly();
} else surviveLostOutput();
const { runCommandLine } = await import('#core/process/command-line.ts');

process.exitCode = await runCommandLine(words, signals);
// What a failure or a dry start of plugins has left open, a timer say, must not keep the process.
if (process.exitCode !== 0 || command === 'check') setTimeout(() => process.exit(), exitGrace).unref();
