import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Ms that a process waits for its turn: the time to create and start a server. */
const longestWait = 120_000;

/**
 * Waits for the turn among the processes of this machine. A turn is a file with the pid of its process; that of a dead
 * process is over.
 */
export async function takeTurn(file: string): Promise<AsyncDisposable> {
  const mine = `${file}.${process.pid}.${performance.now()}`;
  const until = performance.now() + longestWait;
  await writeFile(mine, String(process.pid));
  try {
    // A link appears with its content: no process sees a turn without a pid.
    while (!(await makeLink(mine, file))) {
      if (performance.now() > until) throw new Error(`Another process is setting up the database and holds ${file}.`);
      if (!(await isHeld(file))) await rm(file, { force: true });
      else await sleep(25);
    }
  } finally {
    await rm(mine, { force: true });
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
  const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
  if (!Number.isInteger(pid)) return false;
  if (pid === process.pid) return isOfThisLife(file);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** A restarted container reuses pids: the turn may be that of the previous process. */
async function isOfThisLife(file: string): Promise<boolean> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.NEGATIVE_INFINITY }));
  return mtimeMs >= performance.timeOrigin;
}
