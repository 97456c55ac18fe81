import { spawn } from 'node:child_process';
import { open, readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { buildProcessOptions } from './cluster.ts';
import type { Identity } from './identity.ts';
import { waitForExit, findPostmasterPid, removeStalePid, sendSignal } from './postmaster.ts';
import { isResponding, type ServerAccess } from './server-access.ts';

const timeoutsMs = { start: 60_000, exit: 2_000 }; // `start` includes crash recovery
const pollIntervalMs = 25;
const logAfterMs = 2_000; // time before a wait is logged
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

interface ServerStart {
  readonly postgres: string;
  readonly access: ServerAccess;
  readonly identity: Identity | undefined;
  readonly logFile: string;
  readonly log: Logger;
  readonly signal: AbortSignal | undefined;
}

/**
 * Starts the server and waits until it responds. If it does not, stops it and throws an error that quotes the end of its log, or the
 * signal's reason.
 */
export async function startServer(options: ServerStart): Promise<void> {
  const { postgres, access, identity, logFile, signal: stopping } = options;
  stopping?.throwIfAborted();
  await removeStalePid(access.folder);
  const size = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  );
  await using output = await open(logFile, size > maxLogBytes ? 'w' : 'a');
  const settingArguments = settings.flatMap((setting) => ['-c', setting]);
  const server = spawn(postgres, ['-D', access.folder, '-p', String(access.port), ...settingArguments], {
    ...buildProcessOptions(identity),
    // Ctrl-C in the terminal must only reach the gateway, which needs its database until it has finished.
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  });
  server.unref();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  server.once('error', (error) => failure.reject(error));
  server.once('exit', () => failure.reject(new Error('it exited immediately')));
  try {
    await Promise.race([failure.promise, waitUntilReady(options)]);
  } catch (error) {
    await quitServer(server.pid);
    if (stopping?.aborted === true) throw stopping.reason;
    const tail = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-5).join('\n');
    throw new Error(`PostgreSQL did not start. The end of ${logFile}:\n${tail}`, { cause: error });
  } finally {
    server.removeAllListeners();
    server.on('error', () => undefined);
  }
}

async function quitServer(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  sendSignal(pid, 'SIGQUIT');
  await waitForExit(pid, timeoutsMs.exit);
}

async function waitUntilReady({ access, log, signal: stopping }: ServerStart): Promise<void> {
  if (await pollUntilReady(access, log, stopping, () => true)) return;
  throw new Error(`it was not ready within ${timeoutsMs.start / 1000} seconds`);
}

/**
 * Returns true if this server runs. Waits while it is starting, recovering or stopping, because a second server could not start on its
 * folder.
 *
 * @throws Error if it runs but refuses the connection, or the signal's reason
 */
export async function isRunning(access: ServerAccess, log: Logger, stopping?: AbortSignal): Promise<boolean> {
  const hasProcess = async () => (await findPostmasterPid(access.folder)) !== undefined;
  if (await pollUntilReady(access, log, stopping, hasProcess)) return true;
  const pid = await findPostmasterPid(access.folder);
  if (pid === undefined) return false;
  throw new Error(
    `PostgreSQL is running on ${access.folder} (process ${pid}) and refuses the gateway's connection. Stop that process.`,
  );
}

async function pollUntilReady(
  access: ServerAccess,
  log: Logger,
  stopping: AbortSignal | undefined,
  canBecomeReady: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const startedAt = performance.now();
  let isLogged = false;
  while (!(await isResponding(access))) {
    stopping?.throwIfAborted();
    const waitedMs = performance.now() - startedAt;
    if (!(await canBecomeReady()) || waitedMs > timeoutsMs.start) return false;
    if (!isLogged && waitedMs > logAfterMs) {
      isLogged = true;
      log.info(`PostgreSQL in ${access.folder} is starting, recovering or stopping; waiting for it`);
    }
    await sleep(pollIntervalMs);
  }
  return true;
}
