/** What the benchmark calls: the gateway as started by `npm start`, the two bare forwarders, and anything else at a URL. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as Accounts from '#core/business/accounts/accounts.ts';
import type * as Open from '#core/platform/database/open.ts';
import type * as Entities from '#core/process/entities.ts';
import { freePort } from '../../test/support/free-port.ts';
import { execute, withDatabase } from '../../test/support/global-postgres.ts';
import { startChild, stopChild } from '../child.ts';
import { benchPipeline } from '../pipeline.ts';
import type { RunningPeer } from '../running-peer.ts';
import type { Target } from './callers.ts';
import { ProcessUsage } from './process-usage.ts';

const startTimeoutMs = 120_000;

export interface Subject extends Target, AsyncDisposable {
  readonly name: string;
  readonly usage: ProcessUsage;
}

export async function createEmptyDatabase(url: string): Promise<string> {
  const name = `daypass_bench_${randomUUID().replaceAll('-', '')}`;
  await execute(url, `CREATE DATABASE ${name} TEMPLATE template0`);
  return withDatabase(url, name);
}

export async function startBare(name: string, file: string, upstream: string): Promise<Subject> {
  const { port, process: child } = await startChild(file, [upstream]);
  const usage = new ProcessUsage(child.pid as number);
  return { name, port, keys: ['none'], usage, [Symbol.asyncDispose]: () => stopChild(child) };
}

/** Without `databaseUrl`, the embedded server is used. `nodeFlags` are added to those of `npm start`, and `launcher` runs the gateway. */
export async function startShop(
  upstream: string,
  databaseUrl: string | undefined,
  accounts: number,
  {
    name = 'gateway',
    nodeFlags = [] as string[],
    checkout = resolve(import.meta.dirname, '../..'),
    launcher = [] as readonly string[],
  } = {},
): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-bench-shop-'));
  await chmod(folder, 0o755);
  const file = join(folder, 'gateway.yaml');
  const port = await freePort();
  const data = join(folder, 'data');
  await writeFile(
    file,
    `listen: { port: ${port}, notice_period: 0 }\ndata: { folder: ${data} }${benchPipeline(upstream)}`,
  );
  const [command = process.execPath, ...words] = [
    ...launcher,
    process.execPath,
    '--disable-sigusr1',
    ...nodeFlags,
    'core/main.mjs',
    '--config',
    file,
    'start',
  ];
  const child = spawn(command, words, {
    cwd: checkout,
    stdio: 'ignore',
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      MALLOC_MMAP_THRESHOLD_: '131072',
      MALLOC_TRIM_THRESHOLD_: '262144',
    },
  });
  await waitUntilReady(child, port);
  const usage = new ProcessUsage(child.pid as number);
  return {
    name,
    port,
    keys: await createKeys(checkout, databaseUrl, data, accounts),
    usage,
    async [Symbol.asyncDispose]() {
      await stopChild(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function peerAt({ name, port, processId }: RunningPeer): Subject {
  const usage = new ProcessUsage(processId);
  return { name, port, keys: ['none'], usage, [Symbol.asyncDispose]: async () => undefined };
}

async function waitUntilReady(child: ChildProcess, port: number): Promise<void> {
  const ended = once(child, 'exit').then(([code]) => `it ended with exit code ${code}`);
  const until = performance.now() + startTimeoutMs;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok === true) return;
    const state = await Promise.race([ended, sleep(100)]);
    if (state !== undefined) throw new Error(`the gateway is not ready: ${state}`);
    if (performance.now() > until) throw new Error(`the gateway is not ready within ${startTimeoutMs / 1000} s`);
  }
}

/** Uses that checkout's code, because its tables may differ. */
async function createKeys(
  checkout: string,
  url: string | undefined,
  dataFolder: string,
  accounts: number,
): Promise<string[]> {
  const load = (file: string) => import(join(checkout, 'core', file));
  const { createAccount } = (await load('business/accounts/accounts.ts')) as typeof Accounts;
  const { coreEntities } = (await load('process/entities.ts')) as typeof Entities;
  const { openDatabase } = (await load('platform/database/open.ts')) as typeof Open;
  const log = { info: () => undefined, warn: console.warn, error: console.error };
  await using database = await openDatabase({
    entities: coreEntities,
    url,
    dataFolder,
    log,
    mode: 'command',
    isShared: true,
  });
  const keys: string[] = [];
  for (let index = 0; index < accounts; index++) {
    const period = { days: 7, reason: 'grant' } as const;
    keys.push((await createAccount(database, 'dp', { name: `Customer ${index}`, period })).key);
  }
  return keys;
}
