// Leftovers of interrupted runs: their temporary files and folders, and records of files that may have been replaced.
import { isAlive } from './lock.mjs';
import { machine } from './machine.mjs';
import { exists, folderOf, join, recordPath } from './paths.mjs';
import { dropStaged, readRecord, settleRecord } from './records.mjs';
import { isWindows, run } from './run.mjs';

/** True when an interrupted run has left something, or another run is at work. */
export function hasInterruptedRun() {
  return exists(recordPath('lock')) || machine.list(recordPath('files')).some((name) => name.endsWith('.new'));
}

/** Completes what an interrupted run has left: temporary files, and records whose file may have been replaced. */
export function recoverRecords() {
  removeTemporaries(run.state);
  for (const name of machine.list(recordPath('files'))) {
    const record = readRecord(name);
    if (record) removeTemporaries(folderOf(record.path));
  }
  for (const staged of machine.list(recordPath('files')).filter((name) => name.endsWith('.new'))) {
    const name = staged.slice(0, -4);
    const fresh = readRecord(staged);
    const old = readRecord(name);
    // The file may have been replaced, and its tool may have edited it since.
    if (fresh && (!old || machine.read(fresh.path) !== old.after)) settleRecord(name);
    else dropStaged(name);
  }
}

/** Earlier versions of setup.ps1 ended them with 32 digits. */
function isTemporary(name) {
  if (name.startsWith(`${run.temporary}.`)) return /\.\d+$/.test(name);
  return isWindows && name.startsWith(`${run.temporary}-`) && /-[0-9a-f]{32}$/.test(name);
}

/** Removes the temporary files of killed runs from a folder. Other files do not belong to this script. */
function removeTemporaries(folder) {
  for (const name of machine.list(folder).filter(isTemporary)) {
    if (machine.lookAtLink(join(folder, name))?.kind === 'file') machine.removeFile(join(folder, name));
  }
}

export function removeDeadStages() {
  for (const folder of [run.home, folderOf(run.state), run.state]) {
    if (!machine.look(folder)) continue;
    for (const name of machine
      .list(folder)
      .filter((one) => one.startsWith(`${run.temporary}.`) && /\.\d+$/.test(one))) {
      const path = join(folder, name);
      if (machine.lookAtLink(path)?.kind === 'folder' && !isAlive(name.slice(name.lastIndexOf('.') + 1)))
        machine.removeTree(path);
    }
  }
}
