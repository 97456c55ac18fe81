// The lock of the records: a folder with the id of the process that is changing something.
import { unlessRefused } from '../edit/common.mjs';
import { machine } from './machine.mjs';
import { exists, firstLine, join, recordPath, show } from './paths.mjs';
import { run, Stop } from './run.mjs';

/**
 * One run at a time: ends this one while another one is changing something.
 *
 * @throws Refusal on a full disk
 */
export function acquireLock() {
  if (!tryLock()) {
    removeDeadLock();
    if (!tryLock()) {
      const pid = readLock() || 'unknown';
      throw new Stop(
        `Another run is changing the settings (process ${pid}). Run this again later; if there is no such process, delete the folder ${show(recordPath('lock'))} first.`,
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

/** Removes a lock whose process has ended. It is moved first, so that a lock that another run takes meanwhile is not lost. */
function removeDeadLock() {
  // A run writes its id right after it made the folder, but a busy machine may stop it in between.
  for (let count = 0; count < 50 && readLock() === '' && exists(recordPath('lock')); count += 1) machine.sleep(100);
  if (isAlive(readLock())) return;
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
