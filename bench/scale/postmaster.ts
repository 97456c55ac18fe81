import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function readPostmasterPid(dataFolder: string): Promise<number> {
  const { folder } = JSON.parse(await readFile(join(dataFolder, 'postgres.json'), 'utf8')) as { folder: string };
  return Number.parseInt(await readFile(join(folder, 'postmaster.pid'), 'utf8'), 10);
}
