// Runs the chosen action and ends with its exit code.

import { Refusal } from '../edit/common.mjs';
import { sendByRuntime } from './gateway.mjs';
import { printList } from './list.mjs';
import { releaseLock } from './lock.mjs';
import { decode, machine } from './machine.mjs';
import { printHelp, readOptions } from './options.mjs';
import { eachFormer, locateHome } from './paths.mjs';
import { removeRecords, takeLock } from './records.mjs';
import { hasInterruptedRun, recoverRecords, removeDeadFolders } from './recovery.mjs';
import { repairVariables, settleVariables, writeChanges } from './registry.mjs';
import { isWindows, paint, run, Stop } from './run.mjs';
import { setUp } from './setup.mjs';
import { undo } from './undo.mjs';
import { verify } from './verify.mjs';

const changeVariables = 93; // the Windows launcher then changes the user's variables and starts this again with --settle

const actions = { setup: setUp, undo, verify, list: printList, help: printHelp };

/** @param data the gateway's data, see script-data.ts */
export function main(data) {
  run.data = data;
  const [word, code] = machine.arguments;
  if (word === '--request') sendByRuntime(JSON.parse(decode(machine.read(0))));
  else if (word === '--settle') machine.exit(settle(Number(code)));
  else machine.exit(word === '--recover' ? recover() : runAction());
}

function settleService() {
  settleVariables();
  removeRecords();
}

function settle(code) {
  locateHome();
  settleService();
  eachFormer(settleService);
  return code;
}

function recover() {
  try {
    locateHome();
    recoverService();
    eachFormer(recoverService);
  } catch {
    // The next run cleans up.
  }
  return 130;
}

function recoverService() {
  removeDeadFolders();
  if (!hasInterruptedRun()) return;
  takeLock();
  recoverRecords();
  removeRecords();
  releaseLock();
}

function runAction() {
  try {
    run.options = readOptions(machine.arguments);
    if (machine.env('SETUP_CONSENT') === 'yes') run.options.hasConsent = true;
    if (run.options.action !== 'help') locateHome();
    if (isWindows && !run.options.isDryRun && /setup|undo/.test(run.options.action)) repairVariables();
    actions[run.options.action]();
    // 0 done, 1 something failed, 2 wrong options, 90 to 93 for the launcher.
    const code = run.hasFailed ? 1 : 0;
    return writeChanges(code) ? changeVariables : code;
  } catch (error) {
    if (!(error instanceof Stop || error instanceof Refusal)) throw error;
    if (error.message) machine.printError(`${paint('red', error.message)}\n`);
    return error instanceof Stop ? error.code : 1;
  } finally {
    releaseLock();
  }
}
