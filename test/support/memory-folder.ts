import { access, constants, mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm'; // in memory on Linux; Docker gives it 64 MB by default
const neededBytes = 3 * 1024 ** 3; // several times what a run's databases need

/**
 * Creates a temporary folder for a PostgreSQL, in memory if there is room. Every database has hundreds of files. On a disk, creating and
 * dropping them takes about ten times as much CPU time.
 */
export async function createMemoryFolder(prefix: string): Promise<string> {
  return mkdtemp(join((await hasRoom()) ? memory : tmpdir(), prefix));
}

async function hasRoom(): Promise<boolean> {
  try {
    await access(memory, constants.W_OK);
    const { bavail, bsize } = await statfs(memory);
    return Math.min(bavail * bsize, process.availableMemory()) >= neededBytes;
  } catch {
    return false;
  }
}
