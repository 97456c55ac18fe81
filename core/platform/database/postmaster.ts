import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** @throws Error if the pid file cannot be read, for example because file descriptors are exhausted */
export async function findPostmasterPid(folder: string): Promise<number | undefined> {
  const pid = await readPid(folder);
  return pid !== undefined && (await isAlive(pid)) && (await isServerIn(pid, folder)) ? pid : undefined;
}

/**
 * Removes the pid file of a dead server if its pid now belongs to another process, as after a machine crash, because PostgreSQL would wait
 * for that process. Otherwise the new server removes the file itself, once the last old process has detached from the shared memory.
 */
export async function removeStalePid(folder: string): Promise<void> {
  const pid = await readPid(folder);
  if (pid !== undefined && isPidInUse(pid) && (await findPostmasterPid(folder)) === undefined)
    await rm(join(folder, 'postmaster.pid'), { force: true });
}

async function readPid(folder: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readTextIfExists(join(folder, 'postmaster.pid')), 10);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

/** Returns an empty text if the file does not exist. Rejects if it cannot be read. */
export function readTextIfExists(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

/** Returns true if a process with this id exists, even if it is a zombie or belongs to a different user. */
export function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function isAlive(pid: number): Promise<boolean> {
  if (!isPidInUse(pid)) return false;
  // Without an init process that reaps orphans, as in many containers, a dead process keeps its pid as a zombie.
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !status.slice(status.lastIndexOf(')')).startsWith(') Z');
}

async function isServerIn(pid: number, folder: string): Promise<boolean> {
  const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  if (workingDirectory !== undefined) return workingDirectory === (await realpath(folder).catch(() => folder));
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'postgres'); // if neither can be read, the pid is trusted
  return name.trim().startsWith('postgres');
}

/** Does nothing if the process has exited. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {}
}

/** @returns false if the process still runs after the timeout */
export async function waitForExit(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isAlive(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}
