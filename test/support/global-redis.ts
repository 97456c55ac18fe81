import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import type { TestProject } from 'vitest/node';
import { freePort } from './free-port.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl: string | null; // tests may write to it; null if there is none
  }
}

const defaultUrl = 'redis://127.0.0.1:6379';
const run = promisify(execFile);
/** An installer is tried once, and only as root. */
const installers: readonly [program: string, ...steps: string[][]][] = [
  ['apt-get', ['update', '-q'], ['install', '-y', '-q', '--no-install-recommends', 'redis-server']],
  ['apk', ['add', '--no-cache', 'redis']],
  ['dnf', ['install', '-y', '-q', 'redis']],
];

/** Tries, in this order: REDIS_URL, the default port, the PATH, the system's packages. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server =
    (await findRedis()) ??
    (await startRedis()) ??
    ((await installRedis()) ? ((await findRedis()) ?? (await startRedis())) : undefined);
  if (server === undefined) warnThatTestsSkip();
  project.provide('redisUrl', server?.url ?? null);
  return async () => server?.stop();
}

/** `stop` only ends a server that the tests started. */
export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Belongs to the tests, so they may disturb it. */
export interface OwnRedisServer extends RedisServer, AsyncDisposable {
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void; // a stopped process accepts connections but never responds
}

async function findRedis(): Promise<RedisServer | undefined> {
  for (const url of [process.env['REDIS_URL'] ?? '', defaultUrl])
    if (url !== '' && (await canPing(url))) return { url, stop: async () => undefined };
  return undefined;
}

async function canPing(url: string): Promise<boolean> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 1_000,
    commandTimeout: 1_000,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

/** Undefined if the program is missing or does not start. */
export async function startRedis(): Promise<OwnRedisServer | undefined> {
  if (spawnSync('redis-server', ['--version']).error !== undefined) return undefined;
  const port = await freePort();
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  const url = `redis://127.0.0.1:${port}`;
  const until = performance.now() + 10_000;
  while (!(await canPing(url))) {
    if (performance.now() > until) {
      server.kill('SIGKILL');
      return undefined;
    }
    await setTimeout(20);
  }
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
  return { url, stop, signal: (signal) => void server.kill(signal), [Symbol.asyncDispose]: stop };
}

async function installRedis(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const known = installers.find(([program]) => spawnSync(program, ['--version']).error === undefined);
  if (known === undefined) return false;
  const [program, ...steps] = known;
  try {
    for (const step of steps)
      await run(program, step, { timeout: 120_000, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    return true;
  } catch {
    return false;
  }
}

function warnThatTestsSkip(): void {
  const text = 'No Redis found: tests that need one DO NOT RUN. Set REDIS_URL to run them.';
  const line = '!'.repeat(text.length + 6);
  console.warn(`\n${line}\n!! ${text} !!\n${line}\n`);
}
