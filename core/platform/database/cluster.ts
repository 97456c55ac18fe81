import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from '../logger.ts';
import { wait } from '../timing/wait.ts';
import type { Identity } from './identity.ts';
import { hasExited } from './postmaster.ts';

/** Folder for a server whose user has no access to the data folder. */
export const systemFolder = '/var/lib/daypass';
const usualLimits: InitLimits = { look: 1_000, stall: 60_000 };
const endTimeoutMs = 5_000;

const run = promisify(execFile);

export async function isCluster(folder: string): Promise<boolean> {
  return stat(join(folder, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

/** Moves a cluster with a lost password aside: the data folder was removed, but not the cluster elsewhere. */
export async function moveAside(folder: string, log: Logger): Promise<void> {
  if (!(await isCluster(folder))) return;
  const aside = `${folder}.${Date.now()}`;
  await rename(folder, aside);
  log.warn(`moved a database with an unknown password to ${aside}`);
}

interface InitLimits {
  readonly look: number; // ms between checks
  /** Ms without growth after which initialization counts as stuck. A slow disk may take any time. */
  readonly stall: number;
}

/** Creates an empty cluster. It is renamed into place when complete, so that a crash leaves no partial one. */
export async function initialize(
  initdb: string,
  { folder, password }: { readonly folder: string; readonly password: string },
  identity: Identity | undefined,
  stopping?: AbortSignal,
  limits: InitLimits = usualLimits,
): Promise<void> {
  const incomplete = `${folder}.new`;
  // Next to the cluster, so that the next start removes it if this one is killed. A pipe would have to belong to the server's user.
  const passwordFile = `${folder}.password`;
  await Promise.all([incomplete, passwordFile].map((path) => rm(path, { recursive: true, force: true })));
  if (dirname(incomplete) === systemFolder) await openSystemFolder();
  await mkdir(incomplete, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (identity !== undefined)
    await Promise.all([incomplete, passwordFile].map((path) => chown(path, identity.uid, identity.gid)));
  const over = new AbortController();
  const stuck = untilStuck(incomplete, limits, over.signal);
  const signal = AbortSignal.any([stuck, ...(stopping === undefined ? [] : [stopping])]);
  const running = run(initdb, initArguments(incomplete, passwordFile), { ...processOf(identity), signal });
  try {
    await running;
  } catch (error) {
    // The process was only signaled: it could still write to, or remove, the folder of the next start.
    const { pid } = running.child;
    if (pid !== undefined && !(await hasExited(pid, endTimeoutMs))) running.child.kill('SIGKILL');
    stopping?.throwIfAborted();
    const reason = stuck.aborted ? `it has written nothing for ${limits.stall / 1000} s` : reasonOf(error);
    throw new Error(
      `PostgreSQL could not be initialized in ${incomplete}: ${reason}. Check that the disk has space and responds, then start again, or set DATABASE_URL to a PostgreSQL of your own.`,
      { cause: error },
    );
  } finally {
    over.abort();
    await rm(passwordFile, { force: true });
  }
  await rename(incomplete, folder);
}

function initArguments(folder: string, passwordFile: string): string[] {
  return [
    '--pgdata',
    folder,
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--locale=C.UTF-8',
    '--no-sync',
  ];
}

function untilStuck(folder: string, { look, stall }: InitLimits, over: AbortSignal): AbortSignal {
  const stuck = new AbortController();
  const watch = async () => {
    let size = 0;
    let grownAt = performance.now();
    while (!over.aborted && !stuck.signal.aborted) {
      await wait(look, over);
      const before = size;
      size = await measureFolder(folder);
      if (size !== before) grownAt = performance.now();
      else if (performance.now() - grownAt >= stall) stuck.abort();
    }
  };
  watch().catch(() => stuck.abort());
  return stuck.signal;
}

async function measureFolder(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      (file) => file.size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, names.length);
}

/** First failure in initdb's output, else its last line (after a failure, that is about cleanup), else how it ended. */
function reasonOf(error: unknown): string {
  const { stderr, code, signal, message } = error as { [name in 'stderr' | 'code' | 'signal' | 'message']?: unknown };
  const lines = String(stderr ?? '')
    .trim()
    .split('\n');
  const failure = lines
    .map((line) => /(?:FATAL|PANIC|ERROR|\berror):\s+(.+)/.exec(line)?.[1])
    .find((line) => line !== undefined);
  const line = failure ?? lines.at(-1);
  if (line !== undefined && line !== '') return line.replace(/\.$/, '');
  if (typeof signal === 'string') return `it was ended by ${signal}`;
  return typeof code === 'number' ? `it ended with code ${code} and printed nothing` : String(message);
}

/** Every user may enter the folder; its entries have their own owners. */
async function openSystemFolder(): Promise<void> {
  await mkdir(systemFolder, { recursive: true });
  await chmod(systemFolder, 0o755);
}

/** Returns the user and environment for the server's programs, without the caller's PG… variables. */
export function processOf(identity: Identity | undefined) {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG')));
  return { env: { ...environment, LC_ALL: 'C' }, cwd: '/', ...(identity && { uid: identity.uid, gid: identity.gid }) };
}
