import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Ms that a process waits for its turn: as long as the one before may need to set a server up and start it. */
const longestWait = 120_000;

/**
 * Waits until no other process of this machine has its turn, and takes it. A turn is a file with the number of its
 * process; the turn of a process that has died is over.
 */
export async function takeTurn(file: string): Promise<AsyncDisposable> {
  const mine = `${file}.${process.pid}.${performance.now()}`;
  const until = performance.now() + longestWait;
  await writeFile(mine, String(process.pid));
  try {
    // A link appears with its content: nobody can see a turn without a number.
    while (!(await makeLink(mine, file))) {
      if (performance.now() > until) throw new Error(`another process sets up the database; it holds ${file}`);
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

/** A container that was killed comes back with the same numbers: the turn may be that of the one before. */
async function isOfThisLife(file: string): Promise<boolean> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.NEGATIVE_INFINITY }));
  return mtimeMs >= performance.timeOrigin;
}
