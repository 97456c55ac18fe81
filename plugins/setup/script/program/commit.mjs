// Replaces a user's file by the planned one atomically.

import { Refusal, unlessRefused } from '../edit/common.mjs';
import { machine } from './machine.mjs';
import { folderOf, join } from './paths.mjs';
import { computePlan } from './plan.mjs';
import {
  backUp,
  dropBackup,
  dropStaged,
  findFreeName,
  makeFolders,
  restrictAccess,
  readRecord,
  settleRecord,
  stageRecord,
  writeStamp,
} from './records.mjs';
import { isWindows, run } from './run.mjs';

const changeReason = 'it was changed meanwhile';

/** Writes a planned file if its verdict is `written`. Returns false if that failed; the plan then says why. */
export function commitPlan(plan) {
  const commit = () => {
    if (plan.verdict === 'unchanged') recordUnchanged(plan);
    if (plan.verdict === 'written') replacePlanned(plan);
  };
  unlessRefused(
    () => retryIfChanged(commit, () => computePlan(plan)),
    ({ message: reason }) => Object.assign(plan, { verdict: 'failed', reason }),
  );
  return ['unchanged', 'manual', 'written'].includes(plan.verdict);
}

function replacePlanned(plan) {
  writeStamp();
  makeFolders(folderOf(plan.real));
  plan.record = plan.record || findFreeName(plan.tool);
  stageRecord(plan.record, createRecord(plan));
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

function recordUnchanged(plan) {
  if (plan.isKept) return;
  const record = plan.record && readRecord(plan.record);
  if (record && ['wanted', 'after', 'before'].every((part) => record[part] === plan[part])) return;
  writeStamp();
  plan.record = plan.record || findFreeName(plan.tool);
  stageRecord(plan.record, createRecord(plan));
  settleRecord(plan.record);
}

function createRecord(plan) {
  const { real: path, source, format, identity, wanted, before, after } = plan;
  // The record has the permissions from before the first change. If the file is gone, they no longer matter.
  const record = plan.current !== undefined && plan.record ? readRecord(plan.record) : undefined;
  const oldMode = record ? record.modes[0] : formatMode(plan.oldMode);
  return {
    path,
    source,
    format,
    identity,
    wanted,
    before,
    after,
    modes: [before === undefined ? '-' : oldMode, formatMode(plan.mode)],
  };
}

export function formatMode(mode) {
  return mode === undefined ? '-' : mode.toString(8).padStart(3, '0');
}

/**
 * Writes a temporary file in the same folder and renames it.
 *
 * @param mode permissions; undefined to keep them
 * @param expected content that was read; undefined if the file did not exist
 * @throws Refusal if the file has changed since
 */
export function replaceFile(path, content, mode, expected) {
  const pending = join(folderOf(path), `${run.temporary}.${machine.pid}`);
  machine.removeFile(pending);
  const entry = expected === undefined ? undefined : machine.stat(path);
  try {
    machine.create(pending, content, mode ?? entry?.mode, entry);
    if (machine.read(pending) !== content) throw new Refusal('it cannot be written; the disk may be full');
    if (isWindows && expected === undefined && mode === 0o600) restrictAccess(pending);
    refuseIfChanged(path, expected);
    machine.rename(pending, path);
  } catch (error) {
    machine.removeFile(pending);
    throw error;
  }
}

export function removeFile(path, expected) {
  refuseIfChanged(path, expected);
  machine.removeFile(path);
}

function refuseIfChanged(path, expected) {
  const isSame = expected === undefined ? machine.lstat(path) === undefined : machine.read(path) === expected;
  if (!isSame) throw new Refusal(changeReason);
}

/** `prepare` runs before each further try. */
export function retryIfChanged(action, prepare = () => {}, times = 3) {
  unlessRefused(action, (error) => {
    if (error.message !== changeReason || times === 1) throw error;
    prepare();
    retryIfChanged(action, prepare, times - 1);
  });
}
