import { readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { isCluster } from './cluster.ts';
import { postmasterPid } from './postmaster.ts';

/** Address and password of the embedded server; kept between starts in a file that only its owner can read. */
export interface ServerAccess {
  readonly port: number;
  readonly password: string;
  /** The server's own folder. */
  readonly folder: string;
}

export function urlOf({ port, password }: ServerAccess): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

/** Of the server of a data folder. Its usual folder takes precedence over the path in the file, as the data folder may have moved. */
export async function readAccess(dataFolder: string): Promise<ServerAccess | undefined> {
  const own = resolve(dataFolder, 'postgres');
  try {
    const access = JSON.parse(await readFile(join(dataFolder, 'postgres.json'), 'utf8')) as ServerAccess;
    return (await isCluster(own)) ? { ...access, folder: own } : access;
  } catch {
    return undefined;
  }
}

/** Atomic: a crash leaves the old file or the new one. */
export async function writeAccess(file: string, access: ServerAccess): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(access, null, 2), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/**
 * True when this server responds, and not another one on the same port.
 *
 * @throws Error when it refuses the password: it will not accept it later either
 */
export async function answers(access: ServerAccess): Promise<boolean> {
  if ((await postmasterPid(access.folder)) === undefined) return false;
  const client = new pg.Client({ connectionString: urlOf(access), connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== '28P01') return false;
    const hint = 'Restore postgres.json in the data folder from a backup of the same time as the database.';
    throw new Error(`PostgreSQL in ${access.folder} refuses its password. ${hint}`, { cause });
  } finally {
    await client.end().catch(() => undefined);
  }
}
