import { Refusal } from '../edit/common.mjs';
import { answerByRuntime } from './gateway.mjs';
import { list } from './list.mjs';
// The action of each option, and the ends of a run.
import { releaseLock } from './lock.mjs';
import { decode, machine } from './machine.mjs';
import { printHelp, readOptions } from './options.mjs';
import { eachFormer, locateHome } from './paths.mjs';
import { removeRecords, takeLock } from './records.mjs';
import { hasInterruptedRun, recoverRecords, removeDeadStages } from './recovery.mjs';
import { repairVariables, settleVariables, writeChanges } from './registry.mjs';
import { isWindows, paint, run, Stop } from './run.mjs';
import { setUp } from './setup.mjs';
import { undo } from './undo.mjs';
import { verify } from './verify.mjs';

/** Exit code after which the launcher changes the variables of the user on Windows, and starts this again with --settle. */
const changeVariables = 93;

const actions = { setup: setUp, undo, verify, list, help: printHelp };

/** @param data what the gateway says of itself, see script-data.ts */
export function main(data) {
  run.data = data;
  const [word, code] = machine.arguments;
  if (word === '--request') answerByRuntime(JSON.parse(decode(machine.read(0))));
  else if (word === '--settle') machine.exit(settle(Number(code)));
  else machine.exit(word === '--recover' ? recover() : attemptAll());
}

function settleOne() {
  settleVariables();
  removeRecords();
}

function settle(code) {
  locateHome();
  settleOne();
  eachFormer(settleOne);
  return code;
}

/** After a run that was interrupted: removes its lock and its temporary files, and completes its records. */
function recover() {
  try {
    locateHome();
    tidy();
    eachFormer(tidy);
  } catch {
    // The next run does it.
  }
  return 130;
}

function tidy() {
  removeDeadStages();
  if (!hasInterruptedRun()) return;
  takeLock();
  recoverRecords();
  removeRecords();
  releaseLock();
}

/** Gives the exit code: 0 done, 1 something failed, 2 wrong options, 90 to 93 for the launcher. */
function attemptAll() {
  try {
    run.options = readOptions(machine.arguments);
    if (machine.env('SETUP_CONSENT') === 'yes') run.options.hasConsent = true;
    if (run.options.action !== 'help') locateHome();
    if (isWindows && !run.options.isDryRun && /setup|undo/.test(run.options.action)) repairVariables();
    actions[run.options.action]();
    const code = run.hasFailed ? 1 : 0;
    return writeChanges(code) ? changeVariables : code;
  } catch (error) {
    if (!(error instanceof Stop || error instanceof Refusal)) throw error;
    if (error.message) machine.complain(`${paint('red', error.message)}\n`);
    return error instanceof Stop ? error.code : 1;
  } finally {
    releaseLock();
  }
}
