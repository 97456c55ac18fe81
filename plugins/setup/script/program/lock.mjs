// The lock on the records: a folder with the id of the process that is making changes.

import { unlessRefused } from '../edit/common.mjs';
import { machine } from './machine.mjs';
import { exists, firstLine, join, recordPath, formatPath } from './paths.mjs';
import { run, Stop } from './run.mjs';

/** Ends this run if another one is making changes. Throws a Refusal on a full disk. */
export function acquireLock() {
  if (!tryLock()) {
    removeDeadLock();
    if (!tryLock()) {
      const pid = readLock() || 'unknown';
      throw new Stop(
        `Another run is changing the settings (process ${pid}). Run this again later; if there is no such process, delete the folder ${formatPath(recordPath('lock'))} first.`,
      );
    }
  }
  run.lock = recordPath('lock');
  machine.write(join(run.lock, 'pid'), `${machine.pid}\n`);
}

function tryLock() {
  return unlessRefused(
    () => machine.makeFolder(recordPath('lock'), 0o700) ?? true,
    () => false,
  );
}

const readLock = (name = 'lock') => firstLine(machine.read(recordPath(name, 'pid')));
export const isAlive = (pid) => /^\d+$/.test(pid) && machine.isAlive(Number(pid));

function removeDeadLock() {
  // A run writes its id right after it has created the folder, but a busy machine may delay it.
  for (let count = 0; count < 50 && readLock() === '' && exists(recordPath('lock')); count += 1) machine.sleep(100);
  if (isAlive(readLock())) return;
  // The lock is renamed first, so that one taken in the meantime is not lost.
  const moved = `lock.${machine.pid}`;
  try {
    machine.rename(recordPath('lock'), recordPath(moved));
  } catch {
    return;
  }
  if (isAlive(readLock(moved))) machine.rename(recordPath(moved), recordPath('lock'));
  else machine.removeTree(recordPath(moved));
}

export function releaseLock() {
  if (run.lock) machine.removeTree(run.lock);
  run.lock = undefined;
}
