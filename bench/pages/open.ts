import { chmod, mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { createLogger } from '#core/platform/logger.ts';
import { coreEntities } from '#core/process/entities.ts';
import { seed } from './seed.ts';

/** The database at DATABASE_URL, or an embedded one in this folder, which later runs reuse. An empty one is filled with `rows` requests. */
export async function openSeeded(folder: string, rows: number): Promise<Database> {
  const dataFolder = resolve(folder);
  await mkdir(dataFolder, { recursive: true });
  // PostgreSQL may run as a different user, which must be able to enter the folder.
  await chmod(dataFolder, 0o755);
  const url = process.env['DATABASE_URL'];
  const database = await openDatabase({
    entities: coreEntities,
    url,
    dataFolder,
    log: createLogger(),
    mode: 'command',
    isShared: true,
  });
  const [row] = await database.query<{ is_empty: boolean }>('SELECT NOT EXISTS (SELECT FROM request_log) AS is_empty');
  if (row?.is_empty === true) await seed(database, rows, (line) => console.log(line));
  return database;
}
