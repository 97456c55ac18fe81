import { link, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { isPidInUse, readTextIfExists } from './postmaster.ts';

const lockTimeoutMs = 120_000;

const logAfterMs = 1_000;

/** Acquires a lock among the processes of this machine: a file with its holder's pid, which is removed if the holder is dead. */
export async function acquireFileLock(file: string, log: Logger, signal?: AbortSignal): Promise<AsyncDisposable> {
  const startedAt = performance.now();
  const pidFile = `${file}.${process.pid}.${startedAt}`;
  let isLogged = false;
  try {
    await writeFile(pidFile, String(process.pid));
    // A link appears together with its content, so no process reads a lock without a pid.
    while (!(await tryToLink(pidFile, file))) {
      signal?.throwIfAborted();
      const waitedMs = performance.now() - startedAt;
      if (waitedMs > lockTimeoutMs) throw new Error(`Another process is setting up the database and holds ${file}.`);
      if (!isLogged && waitedMs > logAfterMs) {
        isLogged = true;
        log.info(`another process is setting up the database and holds ${file}; waiting`);
      }
      if (!(await isHolderAlive(file))) await rm(file, { force: true });
      else await sleep(25);
    }
  } finally {
    await rm(pidFile, { force: true });
  }
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}

async function tryToLink(target: string, path: string): Promise<boolean> {
  try {
    await link(target, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isHolderAlive(file: string): Promise<boolean> {
  const pid = Number.parseInt(await readTextIfExists(file), 10);
  if (!Number.isInteger(pid)) return false;
  return pid === process.pid ? wasWrittenByThisRun(file) : isPidInUse(pid); // restarted containers reuse pids
}

async function wasWrittenByThisRun(file: string): Promise<boolean> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.NEGATIVE_INFINITY }));
  return mtimeMs >= performance.timeOrigin;
}
