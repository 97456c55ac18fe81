import { spawn } from 'node:child_process';
import { open, readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { processOf } from './cluster.ts';
import type { Identity } from './identity.ts';
import { hasExited, postmasterPid, removeStalePid, signal } from './postmaster.ts';
import { answers, type ServerAccess } from './server-access.ts';

const timeouts = { start: 60_000, exit: 2_000 }; // ms; `start` includes crash recovery
const pollIntervalMs = 25;
const logAfterMs = 2_000; // ms before a wait is logged
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
 * Starts the server and waits until it responds; otherwise stops it again.
 *
 * @throws Error with the end of the server's log; the reason of the signal
 */
export async function startServer(start: ServerStart): Promise<void> {
  const { postgres, access, identity, logFile, signal: stopping } = start;
  stopping?.throwIfAborted();
  await removeStalePid(access.folder);
  const size = await stat(logFile).then(
    (file) => file.size,
    () => 0,
  );
  await using output = await open(logFile, size > maxLogBytes ? 'w' : 'a');
  const options = settings.flatMap((setting) => ['-c', setting]);
  const server = spawn(postgres, ['-D', access.folder, '-p', String(access.port), ...options], {
    ...processOf(identity),
    // Ctrl-C in the terminal must reach only the gateway, which needs its database until it has finished.
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  });
  server.unref();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  server.once('error', (error) => failure.reject(error));
  server.once('exit', () => failure.reject(new Error('it exited at once')));
  try {
    await Promise.race([failure.promise, waitUntilReady(start)]);
  } catch (error) {
    await end(server.pid);
    if (stopping?.aborted === true) throw stopping.reason;
    const tail = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n').slice(-5).join('\n');
    throw new Error(`PostgreSQL did not start. The end of ${logFile}:\n${tail}`, { cause: error });
  } finally {
    server.removeAllListeners();
    server.on('error', () => undefined);
  }
}

async function end(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  signal(pid, 'SIGQUIT');
  await hasExited(pid, timeouts.exit);
}

async function waitUntilReady({ access, log, signal: stopping }: ServerStart): Promise<void> {
  if (await untilReady(access, log, stopping, () => true)) return;
  throw new Error(`it was not ready within ${timeouts.start / 1000} seconds`);
}

/**
 * Returns true if this server runs. Waits while it is starting, recovering or stopping, because a second one would not start on its folder.
 *
 * @throws Error if it runs but refuses the connection; the reason of the signal
 */
export async function isRunning(access: ServerAccess, log: Logger, stopping?: AbortSignal): Promise<boolean> {
  const hasProcess = async () => (await postmasterPid(access.folder)) !== undefined;
  if (await untilReady(access, log, stopping, hasProcess)) return true;
  const pid = await postmasterPid(access.folder);
  if (pid === undefined) return false;
  throw new Error(
    `PostgreSQL runs on ${access.folder} (process ${pid}) and refuses the gateway's connection. Stop that process.`,
  );
}

async function untilReady(
  access: ServerAccess,
  log: Logger,
  stopping: AbortSignal | undefined,
  isWorthWaiting: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const startedAt = performance.now();
  let isLogged = false;
  while (!(await answers(access))) {
    stopping?.throwIfAborted();
    const waited = performance.now() - startedAt;
    if (!(await isWorthWaiting()) || waited > timeouts.start) return false;
    if (!isLogged && waited > logAfterMs) {
      isLogged = true;
      log.info(`PostgreSQL in ${access.folder} is starting, recovering or stopping; waiting for it`);
    }
    await sleep(pollIntervalMs);
  }
  return true;
}
