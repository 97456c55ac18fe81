import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { StartRefused } from '../errors/start-refused.ts';

/** A user of this machine other than the gateway's. */
export interface Identity {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Users for the server when the gateway runs as root; the first that exists is used. */
const candidates = ['daypass', 'postgres', 'nobody'];
const run = promisify(execFile);

/**
 * The user that PostgreSQL runs as, since it refuses to run as root. Undefined when the gateway is not root.
 *
 * @throws StartRefused when none of the users exists
 */
export async function serverIdentity(): Promise<Identity | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of candidates) {
    const identity = await lookUp(name);
    if (identity !== undefined) return identity;
  }
  throw new StartRefused(
    'PostgreSQL refuses to run as root, and there is no user daypass, postgres or nobody. Create one, or set DATABASE_URL.',
    { isPermanent: true },
  );
}

async function lookUp(name: string): Promise<Identity | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/** True when the user can read a file and enter every folder above it. */
export async function canReach(file: string, identity: Identity): Promise<boolean> {
  if (!(await allows(file, identity, 0o4))) return false;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (!(await allows(folder, identity, 0o1))) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** @param bits of `rwx`, as in the last digit of a mode */
async function allows(path: string, { uid, gid }: Identity, bits: number): Promise<boolean> {
  const { mode, uid: owner, gid: group } = await stat(path);
  const shift = owner === uid ? 6 : group === gid ? 3 : 0;
  return ((mode >> shift) & bits) === bits;
}
