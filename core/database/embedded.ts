import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access as checkAccess, constants, mkdir, open, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../logger.ts';
import { findBinaries } from './binaries.ts';
import { initialize, isCluster, processOf, moveAside, systemFolder } from './cluster.ts';
import { canReach, type Identity, serverIdentity } from './identity.ts';
import { hasExited, postmasterPid, removeStalePid, signal } from './postmaster.ts';
import { acquireFileLock } from './file-lock.ts';

/** Ms for the server to start, recovery after a crash included, and to stop before it is forced to. */
const startTimeout = 60_000;
const stopTimeout = 10_000;
const maxLogBytes = 10 * 1024 * 1024;

const settings: readonly string[] = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=100',
  'shared_buffers=64MB',
  'timezone=UTC',
  'log_timezone=UTC',
  'jit=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'cluster_name=daypass',
];

/** How to reach a server; kept between starts in a file that only its owner can read. */
interface Access {
  readonly port: number;
  readonly password: string;
  /** The server's own folder. */
  readonly folder: string;
}

/**
 * A PostgreSQL that belongs to a data folder. It runs as a separate process and survives a crash of the gateway; the next
 * gateway reconnects to it.
 */
export class EmbeddedPostgres {
  readonly url: string;
  /** True when this process has started it. */
  readonly isOurs: boolean;
  readonly #folder: string;
  readonly #log: Logger;

  private constructor(access: Access, isOurs: boolean, log: Logger) {
    this.url = urlOf(access);
    this.isOurs = isOurs;
    this.#folder = access.folder;
    this.#log = log;
  }

  /** Connects to the server of this folder, starts it if needed, and creates it the first time. */
  static async open(dataFolder: string, log: Logger): Promise<EmbeddedPostgres> {
    const identity = await serverIdentity();
    await prepareFolder(dataFolder);
    await using _lock = await acquireFileLock(join(dataFolder, 'postgres.lock'));
    const file = join(dataFolder, 'postgres.json');
    const known = await readAccess(file, resolve(dataFolder, 'postgres'));
    if (known !== undefined && (await isRunning(known))) return new EmbeddedPostgres(known, false, log);
    const folder = known?.folder ?? (await placeFor(dataFolder, identity));
    const access = {
      folder,
      password: known?.password ?? randomBytes(24).toString('base64url'),
      port: await freePort(known?.port),
    };
    const { initdb, postgres } = await findBinaries(identity, systemFolder);
    if (known === undefined) await moveAside(folder, log);
    // Before the cluster is created: a crash in between must not leave one with an unknown password.
    await writeAccess(file, access);
    if (!(await isCluster(folder))) await initialize(initdb, access, identity);
    await start(postgres, access, identity, join(dataFolder, 'postgres.log'));
    return new EmbeddedPostgres(access, true, log);
  }

  /** Stops the server; by force when it does not stop in time. */
  async stop(): Promise<void> {
    const pid = await postmasterPid(this.#folder);
    if (pid === undefined) return;
    signal(pid, 'SIGINT');
    if (await hasExited(pid, stopTimeout)) return;
    this.#log.warn('PostgreSQL did not stop in time; stopping it by force');
    signal(pid, 'SIGQUIT');
    await hasExited(pid, stopTimeout);
  }
}

async function prepareFolder(dataFolder: string): Promise<void> {
  try {
    await mkdir(dataFolder, { recursive: true });
    await checkAccess(dataFolder, constants.W_OK);
  } catch (cause) {
    const hint = 'Make it writable for the user of this process, or set another data.folder.';
    throw new Error(`The data folder ${dataFolder} is not writable. ${hint}`, { cause });
  }
}

function urlOf({ port, password }: Access): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

/** @param own the usual folder of the server; takes precedence over the path in the file, as the data folder may have moved */
async function readAccess(file: string, own: string): Promise<Access | undefined> {
  try {
    const access = JSON.parse(await readFile(file, 'utf8')) as Access;
    return (await isCluster(own)) ? { ...access, folder: own } : access;
  } catch {
    return undefined;
  }
}

/** Atomic: a crash leaves the old file or the new one. */
async function writeAccess(file: string, access: Access): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(access, null, 2), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/**
 * True when this server is up. Waits while it is starting, recovering or stopping: a second one on its folder would not
 * start.
 *
 * @throws Error when it runs and refuses the connection
 */
async function isRunning(access: Access): Promise<boolean> {
  const until = performance.now() + startTimeout;
  while (!(await answers(access))) {
    const pid = await postmasterPid(access.folder);
    if (pid === undefined) return false;
    if (performance.now() > until)
      throw new Error(
        `PostgreSQL runs on ${access.folder} (process ${pid}) and refuses the gateway's connection. Stop that process.`,
      );
    await sleep(25);
  }
  return true;
}

/** True when this server responds, and not another one on the same port. */
async function answers(access: Access): Promise<boolean> {
  if ((await postmasterPid(access.folder)) === undefined) return false;
  const client = new pg.Client({ connectionString: urlOf(access), connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** `<data>/postgres`, unless the server's user cannot enter it. */
async function placeFor(dataFolder: string, identity: Identity | undefined): Promise<string> {
  const own = resolve(dataFolder, 'postgres');
  if (identity === undefined || (await canReach(dirname(own), identity).catch(() => false))) return own;
  const hash = createHash('sha256').update(own).digest('hex').slice(0, 16);
  await writeFile(
    join(dataFolder, 'POSTGRES-IS-ELSEWHERE.txt'),
    `PostgreSQL runs as the user ${identity.name}, which cannot access this folder.\nIts files are in ${systemFolder}/${hash}.\n`,
  );
  return join(systemFolder, hash);
}

async function start(postgres: string, access: Access, identity: Identity | undefined, logFile: string): Promise<void> {
  await removeStalePid(access.folder);
  const size = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  );
  await using log = await open(logFile, size > maxLogBytes ? 'w' : 'a');
  const options = settings.flatMap((setting) => ['-c', setting]);
  const server = spawn(postgres, ['-D', access.folder, '-p', String(access.port), ...options], {
    ...processOf(identity),
    // Ctrl-C in the terminal must reach only the gateway, which needs its database to finish.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  server.unref();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  server.once('error', (error) => failure.reject(error));
  server.once('exit', () => failure.reject(new Error('it exited at once')));
  try {
    await Promise.race([failure.promise, waitUntilReady(access)]);
  } catch (error) {
    const tail = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-5).join('\n');
    throw new Error(`PostgreSQL did not start. The end of ${logFile}:\n${tail}`, { cause: error });
  }
  server.removeAllListeners();
}

async function waitUntilReady(access: Access): Promise<void> {
  const until = performance.now() + startTimeout;
  while (!(await answers(access))) {
    if (performance.now() > until) throw new Error(`it was not ready within ${startTimeout / 1000} seconds`);
    await sleep(25);
  }
}

/** The preferred port if it is free, otherwise any. */
async function freePort(preferred: number | undefined): Promise<number> {
  return probePort(preferred ?? 0).catch(() => probePort(0));
}

/** @throws Error when the port is in use */
async function probePort(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : port;
}
