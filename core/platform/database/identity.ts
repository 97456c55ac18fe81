import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { StartRefused } from '../errors/start-refused.ts';

/** A user of this machine other than the gateway's. */
export interface Identity {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const serverUsers = ['daypass', 'postgres', 'nobody'];
const run = promisify(execFile);

/**
 * Returns the user that runs PostgreSQL, which refuses to run as root: the owner of its files, or one of `serverUsers` for a new cluster.
 *
 * @param folder the server's folder; may be missing
 * @returns undefined if the gateway does not run as root
 * @throws StartRefused if none of the users exists
 */
export async function chooseServerIdentity(folder: string): Promise<Identity | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await readFileOwner(folder);
  if (owner !== undefined && owner.uid !== 0) return owner;
  for (const name of serverUsers) {
    const identity = await findUser(name);
    if (identity !== undefined) return identity;
  }
  throw new StartRefused(
    'PostgreSQL refuses to run as root, and there is no user daypass, postgres or nobody. Create one, or set DATABASE_URL.',
    { isPermanent: true },
  );
}

async function readFileOwner(path: string): Promise<Identity | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  const { uid, gid } = stats;
  const idOutput = await run('id', ['-nu', String(uid)]).catch(() => undefined);
  return { name: idOutput?.stdout.trim() ?? String(uid), uid, gid };
}

/**
 * @throws StartRefused if a file belongs to a different user, because it would seem missing and be created again. Missing paths are
 *   allowed.
 */
export async function requireReadable(dataFolder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const error = await access(path, constants.R_OK).catch((failure: NodeJS.ErrnoException) => failure);
    if (error?.code !== 'EACCES') continue;
    const { name } = (await readFileOwner(path)) ?? (await readFileOwner(dataFolder)) ?? { name: 'another user' };
    const username = readOwnUserName();
    throw new StartRefused(
      `${path} belongs to the user ${name}, and ${username} may not read it. Start the gateway as ${name}, or give it the files: chown -R ${username} ${dataFolder}.`,
      { isPermanent: true, cause: error },
    );
  }
}

function readOwnUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'this user'); // without a name, as in a container
  }
}

async function findUser(name: string): Promise<Identity | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/** Returns true if the user can read the file and enter every folder above it. */
export async function canReach(file: string, identity: Identity): Promise<boolean> {
  if (!(await hasPermission(file, identity, 0o4))) return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (!(await hasPermission(folder, identity, 0o1))) return false;
    if (folder === dirname(folder)) return true;
  }
}

async function hasPermission(path: string, { uid, gid }: Identity, rwxBits: number): Promise<boolean> {
  const { mode, uid: owner, gid: group } = await stat(path);
  let shift = 0;
  if (owner === uid) shift = 6;
  else if (group === gid) shift = 3;
  return ((mode >> shift) & rwxBits) === rwxBits;
}
