import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns the pid of the running server of this folder; undefined if there is none.
 *
 * @throws if the pid cannot be read, for example because file descriptors are exhausted
 */
export async function postmasterPid(folder: string): Promise<number | undefined> {
  const pid = await readPid(folder);
  return pid !== undefined && (await isAlive(pid)) && (await isServerOf(pid, folder)) ? pid : undefined;
}

/**
 * Removes the pid file of a dead server if its pid now belongs to another process, as after a machine crash: PostgreSQL would wait for that
 * process. Otherwise the file stays, because the new server removes it itself, once the last old process detached from their shared memory.
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
 * Reads the text of a file; empty if it does not exist.
 *
 * @throws if it cannot be read, which proves nothing about its content
 */
export function readIfPresent(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

/** Returns true if a process with this id exists, even as a zombie or of another user. */
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
  // Without an init process that reaps orphans, as in many containers, a dead process keeps its pid as a zombie.
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !status.slice(status.lastIndexOf(')')).startsWith(') Z');
}

/** Identifies a server by its working directory; if that is unreadable, by its process name, or else by its pid. */
async function isServerOf(pid: number, folder: string): Promise<boolean> {
  const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  if (workingDirectory !== undefined) return workingDirectory === (await realpath(folder).catch(() => folder));
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'postgres');
  return name.trim().startsWith('postgres');
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has exited.
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
