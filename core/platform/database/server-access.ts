import { readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { isCluster } from './cluster.ts';
import { findPostmasterPid } from './postmaster.ts';
import { withClient } from './with-client.ts';

/** Address and password of the embedded server, stored in a file that only its owner can read. */
export interface ServerAccess {
  readonly port: number;
  readonly password: string;
  readonly folder: string; // of the cluster
}

export function buildUrl({ port, password }: ServerAccess): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

/**
 * Reads the access data of a data folder's server; undefined if there is none. The default folder takes precedence over the path in the
 * file, because the data folder may have been moved.
 */
export async function readAccess(dataFolder: string): Promise<ServerAccess | undefined> {
  const defaultFolder = resolve(dataFolder, 'postgres');
  try {
    const access = JSON.parse(await readFile(join(dataFolder, 'postgres.json'), 'utf8')) as ServerAccess;
    return (await isCluster(defaultFolder)) ? { ...access, folder: defaultFolder } : access;
  } catch {
    return undefined;
  }
}

/** Writes the file atomically, so that a crash leaves either the old or the new content. */
export async function writeAccess(file: string, access: ServerAccess): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(access, null, 2), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/**
 * Returns true if this server responds, rather than another one on its port. Throws if it rejects the password, because a retry would fail
 * too.
 */
export async function isResponding(access: ServerAccess): Promise<boolean> {
  if ((await findPostmasterPid(access.folder)) === undefined) return false;
  try {
    return await withClient({ connectionString: buildUrl(access), connectionTimeoutMillis: 2_000 }, async () => true);
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError) || cause.code !== '28P01') return false;
    const hint = 'Restore postgres.json in the data folder from the same backup as the database.';
    throw new Error(`PostgreSQL in ${access.folder} refuses its password. ${hint}`, { cause });
  }
}
