import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StartRefused } from '../errors/start-refused.ts';
import type { Logger } from '../logger.ts';
import { wait } from '../timing/wait.ts';
import type { Identity } from './identity.ts';
import { waitForExit } from './postmaster.ts';

/** Folder for servers whose user cannot access the data folder. */
export const systemFolder = '/var/lib/daypass';
const defaultLimits: InitLimits = { checkIntervalMs: 1_000, stallTimeoutMs: 60_000 };
const exitTimeoutMs = 5_000;
const namelessUserPattern = /could not look up effective user ID/;

const run = promisify(execFile);

export async function isCluster(folder: string): Promise<boolean> {
  return stat(join(folder, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

/** Renames a cluster whose password is lost because the data folder was removed while the cluster was elsewhere. */
export async function moveClusterAside(folder: string, log: Logger): Promise<void> {
  if (!(await isCluster(folder))) return;
  const newPath = `${folder}.${Date.now()}`;
  await rename(folder, newPath);
  log.warn(`moved a database with an unknown password to ${newPath}`);
}

interface InitLimits {
  readonly checkIntervalMs: number;
  readonly stallTimeoutMs: number; // without progress; the total duration is unlimited, because disks may be slow
}

/** Creates an empty cluster. It is renamed into place when complete, so that a crash leaves no partial cluster. */
export async function initializeCluster(
  initdb: string,
  { folder, password }: { readonly folder: string; readonly password: string },
  identity: Identity | undefined,
  stopping?: AbortSignal,
  limits: InitLimits = defaultLimits,
): Promise<void> {
  const newFolder = `${folder}.new`;
  // Stored next to the cluster, so that the next start removes it if this one is killed. A pipe would not belong to the server's user.
  const passwordFile = `${folder}.password`;
  await Promise.all([newFolder, passwordFile].map((path) => rm(path, { recursive: true, force: true })));
  if (dirname(newFolder) === systemFolder) await prepareSystemFolder();
  await mkdir(newFolder, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (identity !== undefined)
    await Promise.all([newFolder, passwordFile].map((path) => chown(path, identity.uid, identity.gid)));
  const ended = new AbortController();
  const stalled = watchForStall(newFolder, limits, ended.signal);
  const signal = AbortSignal.any([stalled, ...(stopping === undefined ? [] : [stopping])]);
  const execution = run(initdb, createInitArguments(newFolder, passwordFile), {
    ...buildProcessOptions(identity),
    signal,
  });
  try {
    await execution;
  } catch (error) {
    // The process has only been signaled, so it could still write to the folder of the next start, or remove it.
    const { pid } = execution.child;
    if (pid !== undefined && !(await waitForExit(pid, exitTimeoutMs))) execution.child.kill('SIGKILL');
    stopping?.throwIfAborted();
    const reason = stalled.aborted
      ? `it has written nothing for ${limits.stallTimeoutMs / 1000} s`
      : findFailureReason(error);
    throw createInitFailure(newFolder, reason, error);
  } finally {
    ended.abort();
    await rm(passwordFile, { force: true });
  }
  await rename(newFolder, folder);
}

function createInitFailure(folder: string, reason: string, cause: unknown): Error {
  const failure = `PostgreSQL could not be initialized in ${folder}: ${reason}.`;
  // Docker and Kubernetes can run an image under a numeric user id that has no entry in /etc/passwd.
  if (namelessUserPattern.test(reason))
    return new StartRefused(
      `${failure} initdb needs an entry for that user in /etc/passwd. Add one, start the gateway as a user that has one, or set DATABASE_URL to a PostgreSQL of your own.`,
      { isPermanent: true, cause },
    );
  return new Error(
    `${failure} Check that the disk has space and responds, then start again, or set DATABASE_URL to a PostgreSQL of your own.`,
    { cause },
  );
}

function createInitArguments(folder: string, passwordFile: string): string[] {
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

function watchForStall(
  folder: string,
  { checkIntervalMs, stallTimeoutMs }: InitLimits,
  ended: AbortSignal,
): AbortSignal {
  const stalled = new AbortController();
  const watch = async () => {
    let size = 0;
    let grownAt = performance.now();
    while (!ended.aborted && !stalled.signal.aborted) {
      await wait(checkIntervalMs, ended);
      const previousSize = size;
      size = await measureFolder(folder);
      if (size !== previousSize) grownAt = performance.now();
      else if (performance.now() - grownAt >= stallTimeoutMs) stalled.abort();
    }
  };
  watch().catch(() => stalled.abort());
  return stalled.signal;
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

function findFailureReason(error: unknown): string {
  const { stderr, code, signal, message } = error as { [name in 'stderr' | 'code' | 'signal' | 'message']?: unknown };
  const lines = String(stderr ?? '')
    .trim()
    .split('\n');
  // After a failure, initdb's last line is about its cleanup.
  const failure = lines
    .map((line) => /(?:FATAL|PANIC|ERROR|\berror):\s+(.+)/.exec(line)?.[1])
    .find((line) => line !== undefined);
  const line = failure ?? lines.at(-1);
  if (line !== undefined && line !== '') return line.replace(/\.$/, '');
  if (typeof signal === 'string') return `it was killed by ${signal}`;
  return typeof code === 'number' ? `it exited with code ${code} and printed nothing` : String(message);
}

async function prepareSystemFolder(): Promise<void> {
  await mkdir(systemFolder, { recursive: true });
  await chmod(systemFolder, 0o755); // every user may enter it, because its entries have their own owners
}

export function buildProcessOptions(identity: Identity | undefined) {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG')));
  return { env: { ...environment, LC_ALL: 'C' }, cwd: '/', ...(identity && { uid: identity.uid, gid: identity.gid }) };
}
