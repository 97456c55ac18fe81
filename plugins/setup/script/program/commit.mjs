// Replaces a file of the user by the planned one in one step, or not at all.
import { Refusal, unlessRefused } from '../edit/common.mjs';
import { machine } from './machine.mjs';
import { folderOf, join } from './paths.mjs';
import { computePlan } from './plan.mjs';
import {
  backUp,
  dropBackup,
  dropStaged,
  freeName,
  makeFolders,
  protect,
  readRecord,
  settleRecord,
  stageRecord,
  writeStamp,
} from './records.mjs';
import { isWindows, run } from './run.mjs';

const changedMeanwhile = 'it was changed meanwhile';

/** Writes a planned file when its verdict is written. False when it failed: the plan has the reason. */
export function commitPlan(plan) {
  const commit = () => {
    if (plan.verdict === 'unchanged') saveUnchanged(plan);
    if (plan.verdict === 'written') replacePlanned(plan);
  };
  unlessRefused(
    () => insist(commit, () => computePlan(plan)),
    ({ message: reason }) => Object.assign(plan, { verdict: 'failed', reason }),
  );
  return ['unchanged', 'manual', 'written'].includes(plan.verdict);
}

function replacePlanned(plan) {
  writeStamp();
  makeFolders(folderOf(plan.real));
  plan.record = plan.record || freeName(plan.tool);
  stageRecord(plan.record, recordOf(plan));
  try {
    backUp(plan.real, plan.current);
    replaceFile(plan.real, plan.after, plan.mode, plan.current);
  } catch (error) {
    dropStaged(plan.record);
    dropBackup(plan.real);
    throw error;
  }
  settleRecord(plan.record);
}

/** Records a file that has the settings already. */
function saveUnchanged(plan) {
  if (plan.isKept) return;
  const old = plan.record && readRecord(plan.record);
  if (old && ['wanted', 'after', 'before'].every((part) => old[part] === plan[part])) return;
  writeStamp();
  plan.record = plan.record || freeName(plan.tool);
  stageRecord(plan.record, recordOf(plan));
  settleRecord(plan.record);
}

function recordOf(plan) {
  const { real: path, source, format, identity, wanted, before, after } = plan;
  // The permissions before the first change, as long as the file is there.
  const old = plan.current !== undefined && plan.record ? readRecord(plan.record) : undefined;
  const oldMode = old ? old.modes[0] : octal(plan.oldMode);
  return {
    path,
    source,
    format,
    identity,
    wanted,
    before,
    after,
    modes: [before === undefined ? '-' : oldMode, octal(plan.mode)],
  };
}

export function octal(mode) {
  return mode === undefined ? '-' : mode.toString(8).padStart(3, '0');
}

/**
 * Replaces a file by a new one that is written beside it, unless it differs from `expected` by now (undefined: there was none).
 *
 * @param mode its permissions; undefined for those that it has, or those of a new file
 */
export function replaceFile(path, content, mode, expected) {
  const pending = join(folderOf(path), `${run.temporary}.${machine.pid}`);
  machine.removeFile(pending);
  const now = expected === undefined ? undefined : machine.look(path);
  try {
    machine.create(pending, content, mode ?? now?.mode, now);
    if (machine.read(pending) !== content) throw new Refusal('it cannot be written; the disk may be full');
    if (isWindows && expected === undefined && mode === 0o600) protect(pending);
    refuseChanged(path, expected);
    machine.rename(pending, path);
  } catch (error) {
    machine.removeFile(pending);
    throw error;
  }
}

/** Takes a file away that is still as it was read. */
export function removeFile(path, expected) {
  refuseChanged(path, expected);
  machine.removeFile(path);
}

function refuseChanged(path, expected) {
  const isSame = expected === undefined ? machine.lookAtLink(path) === undefined : machine.read(path) === expected;
  if (!isSame) throw new Refusal(changedMeanwhile);
}

/** Does it again when the tool has written its file meanwhile, at most three times. @param prepare for another time */
export function insist(action, prepare = () => {}, times = 3) {
  unlessRefused(action, (error) => {
    if (error.message !== changedMeanwhile || times === 1) throw error;
    prepare();
    insist(action, prepare, times - 1);
  });
}
