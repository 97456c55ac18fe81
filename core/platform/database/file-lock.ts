import { link, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { isTaken, readIfPresent } from './postmaster.ts';

const lockTimeoutMs = 120_000;

const logAfterMs = 1_000;

/**
 * Acquires a lock among the processes of this machine: a file with the pid of its holder. The lock of a dead process is stale, and is
 * removed.
 *
 * @param signal aborts the wait
 */
export async function acquireFileLock(file: string, log: Logger, signal?: AbortSignal): Promise<AsyncDisposable> {
  const startedAt = performance.now();
  const ownFile = `${file}.${process.pid}.${startedAt}`;
  let isLogged = false;
  try {
    await writeFile(ownFile, String(process.pid));
    // A link appears together with its content, so no process sees a lock without a pid.
    while (!(await makeLink(ownFile, file))) {
      signal?.throwIfAborted();
      const waited = performance.now() - startedAt;
      if (waited > lockTimeoutMs) throw new Error(`Another process is setting up the database and holds ${file}.`);
      if (!isLogged && waited > logAfterMs)
        log.info(`another process is setting up the database and holds ${file}; waiting`);
      isLogged ||= waited > logAfterMs;
      if (!(await isHeld(file))) await rm(file, { force: true });
      else await sleep(25);
    }
  } finally {
    await rm(ownFile, { force: true });
  }
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}

async function makeLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isHeld(file: string): Promise<boolean> {
  const pid = Number.parseInt(await readIfPresent(file), 10);
  if (!Number.isInteger(pid)) return false;
  return pid === process.pid ? isOfThisRun(file) : isTaken(pid);
}

/** Restarted containers reuse pids: the lock may belong to a previous process. */
async function isOfThisRun(file: string): Promise<boolean> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.NEGATIVE_INFINITY }));
  return mtimeMs >= performance.timeOrigin;
}
