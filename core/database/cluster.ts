import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from '../logger.ts';
import type { Identity } from './identity.ts';

/** Where a server that runs as another user keeps its files when that user cannot enter the data folder. */
export const systemFolder = '/var/lib/daypass';
/** Timeout of `initdb` in ms. */
const initTimeout = 60_000;

const run = promisify(execFile);

export async function isCluster(folder: string): Promise<boolean> {
  return stat(join(folder, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

/** Moves a cluster with a lost password away: its data folder was removed, but not its files elsewhere. */
export async function moveAside(folder: string, log: Logger): Promise<void> {
  if (!(await isCluster(folder))) return;
  const aside = `${folder}.${Date.now()}`;
  await rename(folder, aside);
  log.warn(`moved a database with an unknown password to ${aside}`);
}

/** Creates an empty cluster. It is renamed into place when complete, so that a crash leaves nothing incomplete. */
export async function initialize(
  initdb: string,
  { folder, password }: { readonly folder: string; readonly password: string },
  identity: Identity | undefined,
  stopping?: AbortSignal,
): Promise<void> {
  const incomplete = `${folder}.new`;
  const passwordFile = join(tmpdir(), `daypass-${randomBytes(8).toString('hex')}`);
  await rm(incomplete, { recursive: true, force: true });
  if (dirname(incomplete) === systemFolder) await openSystemFolder();
  await mkdir(incomplete, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (identity !== undefined)
    await Promise.all([incomplete, passwordFile].map((path) => chown(path, identity.uid, identity.gid)));
  try {
    await run(
      initdb,
      [
        '--pgdata',
        incomplete,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale-provider=builtin',
        '--locale=C.UTF-8',
        '--no-sync',
      ],
      { ...processOf(identity), timeout: initTimeout, ...(stopping && { signal: stopping }) },
    );
  } catch (error) {
    stopping?.throwIfAborted();
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(`PostgreSQL could not be initialized in ${incomplete}: ${output.trim().split('\n').at(-1) ?? ''}`, {
      cause: error,
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(incomplete, folder);
}

/** Every user may enter it; its entries have an owner each. */
async function openSystemFolder(): Promise<void> {
  await mkdir(systemFolder, { recursive: true });
  await chmod(systemFolder, 0o755);
}

/** User and environment for the server's programs, without the caller's PG… variables. */
export function processOf(identity: Identity | undefined) {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG')));
  return { env: { ...environment, LC_ALL: 'C' }, cwd: '/', ...(identity && { uid: identity.uid, gid: identity.gid }) };
}
