import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { prepareDataFolder } from '../data-folder.ts';
import type { Logger } from '../logger.ts';
import { findBinaries } from './binaries.ts';
import { initializeCluster, isCluster, moveClusterAside, systemFolder } from './cluster.ts';
import { acquireFileLock } from './file-lock.ts';
import { canReach, type Identity, requireReadable, chooseServerIdentity } from './identity.ts';
import { waitForExit, findPostmasterPid, sendSignal } from './postmaster.ts';
import { readAccess, type ServerAccess, buildUrl, writeAccess } from './server-access.ts';
import { isRunning, startServer } from './server-process.ts';

const stopTimeoutMs = 10_000;

/**
 * A PostgreSQL server that belongs to a data folder. It runs as a separate process and survives a crash of the gateway. The next gateway
 * reconnects to it.
 */
export class EmbeddedPostgres {
  readonly url: string;
  readonly isStartedHere: boolean;
  readonly #dataFolder: string;
  readonly #access: ServerAccess;
  readonly #identity: Identity | undefined;
  readonly #log: Logger;

  private constructor(
    dataFolder: string,
    access: ServerAccess,
    identity: Identity | undefined,
    isStartedHere: boolean,
    log: Logger,
  ) {
    this.url = buildUrl(access);
    this.isStartedHere = isStartedHere;
    this.#dataFolder = dataFolder;
    this.#access = access;
    this.#identity = identity;
    this.#log = log;
  }

  /**
   * Connects to the folder's server, starting it if needed and creating it the first time. Aborting `stopping` cancels this and stops a
   * server that is starting.
   */
  static async open(dataFolder: string, log: Logger, stopping?: AbortSignal): Promise<EmbeddedPostgres> {
    const accessFile = join(dataFolder, 'postgres.json');
    const defaultFolder = resolve(dataFolder, 'postgres');
    await requireReadable(dataFolder, [accessFile, defaultFolder]);
    await prepareDataFolder(dataFolder);
    await using _lock = await lockFolder(dataFolder, log, stopping);
    const stored = await readAccess(dataFolder);
    const identity = await chooseServerIdentity(stored?.folder ?? defaultFolder);
    if (stored !== undefined && (await isRunning(stored, log, stopping)))
      return new EmbeddedPostgres(dataFolder, stored, identity, false, log);
    const folder = stored?.folder ?? (await chooseFolder(dataFolder, identity));
    const access = {
      folder,
      password: stored?.password ?? randomBytes(24).toString('base64url'),
      port: await findFreePort(stored?.port),
    };
    const { initdb, postgres } = await findBinaries(identity, systemFolder);
    if (stored === undefined) await moveClusterAside(folder, log);
    // Written before the cluster is created, so that a crash cannot leave a cluster with an unknown password.
    await writeAccess(accessFile, access);
    if (!(await isCluster(folder))) await initializeCluster(initdb, access, identity, stopping);
    await startServer({ postgres, access, identity, logFile: resolveLogFile(dataFolder), log, signal: stopping });
    return new EmbeddedPostgres(dataFolder, access, identity, true, log);
  }

  async isAlive(): Promise<boolean> {
    return (await findPostmasterPid(this.#access.folder)) !== undefined;
  }

  /** Restarts the server on its port if it died. Rejects if it does not start, or with the signal's reason. */
  async restart(stopping: AbortSignal): Promise<void> {
    await using _lock = await lockFolder(this.#dataFolder, this.#log, stopping);
    if (await isRunning(this.#access, this.#log, stopping)) return;
    const { postgres } = await findBinaries(this.#identity, systemFolder);
    await startServer({
      postgres,
      access: this.#access,
      identity: this.#identity,
      logFile: resolveLogFile(this.#dataFolder),
      log: this.#log,
      signal: stopping,
    });
  }

  /** Stops the server, by force after the timeout. */
  async stop(timeoutMs = stopTimeoutMs): Promise<void> {
    const pid = await findPostmasterPid(this.#access.folder);
    if (pid === undefined) return;
    sendSignal(pid, 'SIGINT');
    if (await waitForExit(pid, timeoutMs)) return;
    this.#log.warn('PostgreSQL did not stop in time; sending SIGQUIT');
    sendSignal(pid, 'SIGQUIT');
    await waitForExit(pid, timeoutMs);
  }
}

function resolveLogFile(dataFolder: string): string {
  return join(dataFolder, 'postgres.log');
}

function lockFolder(dataFolder: string, log: Logger, stopping: AbortSignal | undefined): Promise<AsyncDisposable> {
  return acquireFileLock(join(dataFolder, 'postgres.lock'), log, stopping);
}

async function chooseFolder(dataFolder: string, identity: Identity | undefined): Promise<string> {
  const defaultFolder = resolve(dataFolder, 'postgres');
  if (identity === undefined || (await canReach(dirname(defaultFolder), identity).catch(() => false)))
    return defaultFolder;
  const hash = createHash('sha256').update(defaultFolder).digest('hex').slice(0, 16);
  await writeFile(
    join(dataFolder, 'POSTGRES-IS-ELSEWHERE.txt'),
    `PostgreSQL runs as the user ${identity.name}, which cannot access this folder.\nIts files are in ${systemFolder}/${hash}.\n`,
  );
  return join(systemFolder, hash);
}

async function findFreePort(preferred: number | undefined): Promise<number> {
  return probePort(preferred ?? 0).catch(() => probePort(0));
}

async function probePort(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : port;
}
