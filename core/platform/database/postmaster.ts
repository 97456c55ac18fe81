import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The running server of this folder; undefined when there is none.
 *
 * @throws when that cannot be read, for example because descriptors have run out
 */
export async function postmasterPid(folder: string): Promise<number | undefined> {
  const pid = await readPid(folder);
  return pid !== undefined && (await isAlive(pid)) && (await isServerOf(pid, folder)) ? pid : undefined;
}

/**
 * Removes the pid file of a server that no longer runs, where its pid belongs to another process, as after a crash of the
 * machine: PostgreSQL would wait for that process. Otherwise the file stays, because the server removes it itself, once the
 * last process of its predecessor has let go of their shared memory.
 */
export async function removeStalePid(folder: string): Promise<void> {
  const pid = await readPid(folder);
  if (pid !== undefined && isTaken(pid) && (await postmasterPid(folder)) === undefined)
    await rm(join(folder, 'postmaster.pid'), { force: true });
}

async function readPid(folder: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readIfPresent(join(folder, 'postmaster.pid')), 10);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

/**
 * A file's text; '' if it does not exist.
 *
 * @throws when it cannot be read, which says nothing about its content
 */
export function readIfPresent(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

/** Whether there is a process of this id, also a zombie, or one of another user. */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function isAlive(pid: number): Promise<boolean> {
  if (!isTaken(pid)) return false;
  // Where no init process reaps orphans, as in many containers, a dead process keeps its pid as a zombie.
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !status.slice(status.lastIndexOf(')')).startsWith(') Z');
}

/** Identifies a server by its working directory or, where that is not readable, by its process name, or else its pid. */
async function isServerOf(pid: number, folder: string): Promise<boolean> {
  const place = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  if (place !== undefined) return place === (await realpath(folder).catch(() => folder));
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'postgres');
  return name.trim().startsWith('postgres');
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited.
  }
}

export async function hasExited(pid: number, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds;
  while (await isAlive(pid)) {
    if (performance.now() > until) return false;
    await sleep(20);
  }
  return true;
}
