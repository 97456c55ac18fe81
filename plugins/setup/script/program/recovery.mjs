// Cleans up after interrupted runs: temporary files and folders, and records of files that may have been replaced.

import { isAlive } from './lock.mjs';
import { machine } from './machine.mjs';
import { exists, folderOf, join, recordPath } from './paths.mjs';
import { dropStaged, readRecord, settleRecord } from './records.mjs';
import { isWindows, run } from './run.mjs';

/** Also returns true during another run. */
export function hasInterruptedRun() {
  return exists(recordPath('lock')) || machine.list(recordPath('files')).some((name) => name.endsWith('.new'));
}

export function recoverRecords() {
  removeTemporaries(run.state);
  for (const name of machine.list(recordPath('files'))) {
    const record = readRecord(name);
    if (record) removeTemporaries(folderOf(record.path));
  }
  for (const staged of machine.list(recordPath('files')).filter((name) => name.endsWith('.new'))) {
    const name = staged.slice(0, -4);
    const stagedRecord = readRecord(staged);
    const record = readRecord(name);
    // The file may have been replaced, and its tool may have edited it since.
    if (stagedRecord && (!record || machine.read(stagedRecord.path) !== record.after)) settleRecord(name);
    else dropStaged(name);
  }
}

function isTemporary(name) {
  if (name.startsWith(`${run.temporary}.`)) return /\.\d+$/.test(name);
  // Names of earlier versions of setup.ps1 end with 32 digits.
  return isWindows && name.startsWith(`${run.temporary}-`) && /-[0-9a-f]{32}$/.test(name);
}

function removeTemporaries(folder) {
  for (const name of machine.list(folder).filter(isTemporary)) {
    if (machine.lstat(join(folder, name))?.kind === 'file') machine.removeFile(join(folder, name));
  }
}

export function removeDeadFolders() {
  for (const folder of [run.home, folderOf(run.state), run.state]) {
    if (!machine.stat(folder)) continue;
    for (const name of machine
      .list(folder)
      .filter((file) => file.startsWith(`${run.temporary}.`) && /\.\d+$/.test(file))) {
      const path = join(folder, name);
      if (machine.lstat(path)?.kind === 'folder' && !isAlive(name.slice(name.lastIndexOf('.') + 1)))
        machine.removeTree(path);
    }
  }
}
