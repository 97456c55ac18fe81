import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, open, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Logger } from '../logger.ts';
import { findBinaries } from './binaries.ts';
import { canReach, type Identity, serverIdentity } from './identity.ts';
import { takeTurn } from './turn.ts';

/** Ms for the server to start (recovery after a crash included), and for it to stop before it is made to. */
const startTimeout = 60_000;
const stopTimeout = 10_000;
const maxLogBytes = 10 * 1024 * 1024;
/** Where a server of root's keeps what its own user cannot reach elsewhere. */
const systemFolder = '/var/lib/daypass';

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

const run = promisify(execFile);

/** What is remembered about a server between starts; in a file that only its owner can read. */
interface Access {
  readonly port: number;
  readonly password: string;
  /** The server's own folder. */
  readonly folder: string;
}

/**
 * A PostgreSQL that belongs to a data folder. It runs as a process of its own and survives the death of the gateway; the
 * next to come finds it and goes on with it.
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

  /** Connects to the server of this folder, or starts it; the first time, makes it. */
  static async open(dataFolder: string, log: Logger): Promise<EmbeddedPostgres> {
    const identity = await serverIdentity();
    await mkdir(dataFolder, { recursive: true });
    await using _turn = await takeTurn(join(dataFolder, 'postgres.lock'));
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
    if (known === undefined) await setAside(folder, log);
    // Before the cluster is made: a crash between the two must not leave one whose password nobody knows.
    await writeAccess(file, access);
    if (!(await isCluster(folder))) await initialize(initdb, access, identity);
    await start(postgres, access, identity, join(dataFolder, 'postgres.log'));
    return new EmbeddedPostgres(access, true, log);
  }

  /** Stops the server: at first politely to those who are connected, then not. */
  async stop(): Promise<void> {
    const pid = await postmasterPid(this.#folder);
    if (pid === undefined) return;
    signal(pid, 'SIGINT');
    if (await hasExited(pid, stopTimeout)) return;
    this.#log.warn('PostgreSQL does not stop by itself and is made to');
    signal(pid, 'SIGQUIT');
    await hasExited(pid, stopTimeout);
  }
}

function urlOf({ port, password }: Access): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}

/** @param own where the server's folder is unless it could not be there; counts before what a moved folder remembers */
async function readAccess(file: string, own: string): Promise<Access | undefined> {
  try {
    const access = JSON.parse(await readFile(file, 'utf8')) as Access;
    return (await isCluster(own)) ? { ...access, folder: own } : access;
  } catch {
    return undefined;
  }
}

/** In one step, so that a crash leaves the old file or the new one. */
async function writeAccess(file: string, access: Access): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(access, null, 2), { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/**
 * True when the server of this access is there. One that is starting, recovering or stopping is waited for: a second one
 * on its folder would not start.
 *
 * @throws Error when it runs and does not let us in
 */
async function isRunning(access: Access): Promise<boolean> {
  const until = performance.now() + startTimeout;
  while (!(await answers(access))) {
    const pid = await postmasterPid(access.folder);
    if (pid === undefined) return false;
    if (performance.now() > until)
      throw new Error(`PostgreSQL runs on ${access.folder} (process ${pid}) and does not let the gateway in; stop it`);
    await sleep(25);
  }
  return true;
}

/** True when the server that belongs to this access is there, and not some other on the same port. */
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

/** `<data>/postgres`, unless the user that the server runs as cannot get there. */
async function placeFor(dataFolder: string, identity: Identity | undefined): Promise<string> {
  const own = resolve(dataFolder, 'postgres');
  if (identity === undefined || (await canReach(dirname(own), identity).catch(() => false))) return own;
  const hash = createHash('sha256').update(own).digest('hex').slice(0, 16);
  await writeFile(
    join(dataFolder, 'POSTGRES-IS-ELSEWHERE.txt'),
    `PostgreSQL runs as the user ${identity.name}, who cannot enter this folder.\nIts files are in ${systemFolder}/${hash}.\n`,
  );
  return join(systemFolder, hash);
}

async function isCluster(folder: string): Promise<boolean> {
  return stat(join(folder, 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

/** A cluster whose password is lost (its data folder was removed, its files elsewhere were not) makes room for a new one. */
async function setAside(folder: string, log: Logger): Promise<void> {
  if (!(await isCluster(folder))) return;
  const aside = `${folder}.${Date.now()}`;
  await rename(folder, aside);
  log.warn(`a database whose password is not known any more has been moved to ${aside}`);
}

/** Makes an empty cluster. It gets its name when it is complete, so that a crash leaves nothing half. */
async function initialize(initdb: string, { folder, password }: Access, identity: Identity | undefined): Promise<void> {
  const half = `${folder}.new`;
  const passwordFile = join(tmpdir(), `daypass-${randomBytes(8).toString('hex')}`);
  await rm(half, { recursive: true, force: true });
  if (dirname(half) === systemFolder) await openSystemFolder();
  await mkdir(half, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (identity !== undefined)
    await Promise.all([half, passwordFile].map((path) => chown(path, identity.uid, identity.gid)));
  try {
    await run(
      initdb,
      [
        '--pgdata',
        half,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale-provider=builtin',
        '--locale=C.UTF-8',
        '--no-sync',
      ],
      { ...processOf(identity), timeout: startTimeout },
    );
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(`PostgreSQL could not be set up in ${half}: ${output.trim().split('\n').at(-1) ?? ''}`, {
      cause: error,
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(half, folder);
}

/** Every user may pass it; what is in it has an owner each. */
async function openSystemFolder(): Promise<void> {
  await mkdir(systemFolder, { recursive: true });
  await chmod(systemFolder, 0o755);
}

/** User and environment for the server's programs. None of the caller's PG… variables may lead them astray. */
function processOf(identity: Identity | undefined) {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG')));
  return { env: { ...environment, LC_ALL: 'C' }, cwd: '/', ...(identity && { uid: identity.uid, gid: identity.gid }) };
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
    // Ctrl-C in the terminal is for the gateway, which needs its database to finish.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  server.unref();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  server.once('error', (error) => failure.reject(error));
  server.once('exit', () => failure.reject(new Error('it ended at once')));
  try {
    await Promise.race([failure.promise, waitUntilReady(access)]);
  } catch (error) {
    const tail = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-5).join('\n');
    throw new Error(`PostgreSQL did not start; the end of ${logFile}:\n${tail}`, { cause: error });
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

/** The running server of this folder; undefined when there is none. */
async function postmasterPid(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isInteger(pid) && pid > 0 && (await isAlive(pid)) && (await isServerOf(pid, folder)) ? pid : undefined;
}

/** After a crash of the machine the number may belong to somebody else, and PostgreSQL would wait for that one. */
async function removeStalePid(folder: string): Promise<void> {
  if ((await postmasterPid(folder)) === undefined) await rm(join(folder, 'postmaster.pid'), { force: true });
}

async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  // Where nobody collects the orphans of a killed gateway, as in many containers, the dead keep their number.
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !status.slice(status.lastIndexOf(')')).startsWith(') Z');
}

/** A server works in its folder. Where that cannot be seen its name has to do; where neither can, its number. */
async function isServerOf(pid: number, folder: string): Promise<boolean> {
  const place = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  if (place !== undefined) return place === (await realpath(folder).catch(() => folder));
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => 'postgres');
  return name.trim().startsWith('postgres');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited meanwhile.
  }
}

async function hasExited(pid: number, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds;
  while (await isAlive(pid)) {
    if (performance.now() > until) return false;
    await sleep(20);
  }
  return true;
}

/** The preferred port when it is free, else any. */
async function freePort(preferred: number | undefined): Promise<number> {
  return probePort(preferred ?? 0).catch(() => probePort(0));
}

/** @throws when somebody listens there */
async function probePort(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : port;
}
