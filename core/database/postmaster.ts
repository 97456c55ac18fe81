import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The running server of this folder; undefined when there is none. */
export async function postmasterPid(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isInteger(pid) && pid > 0 && (await isAlive(pid)) && (await isServerOf(pid, folder)) ? pid : undefined;
}

/** After a machine crash the pid may belong to another process, for which PostgreSQL would wait. */
export async function removeStalePid(folder: string): Promise<void> {
  if ((await postmasterPid(folder)) === undefined) await rm(join(folder, 'postmaster.pid'), { force: true });
}

async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
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
