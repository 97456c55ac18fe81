import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createAccount } from '../../core/accounts/accounts.ts';
import { Gateway } from '../../core/app.ts';
import type { Database } from '../../core/database/database.ts';
import { openDatabase } from '../../core/database/open.ts';
import type { Logger } from '../../core/logger.ts';
import { createBareDatabase, dropDatabase, silentLog } from './database.ts';

export interface GatewayOptions {
  /** What gateway.yaml says beside `listen` and `data`. */
  readonly yaml: string;
  readonly environment?: Record<string, string>;
  readonly log?: Logger;
}

export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly url: string;
  /** A key with a day to go. */
  readonly key: string;
  readonly accountId: string;
  readonly database: Database;
  /** The temporary folder with gateway.yaml and the data. */
  readonly folder: string;
  readonly file: string;
  /** Replaces gateway.yaml, without loading it. */
  write(yaml: string): Promise<void>;
}

/** Every stage, with limits out of the way. */
export const wholePipeline = `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 100000, period: 1, burst: 100000, concurrent: 10000 }
  - cache
  - format
  - upstream: { first_byte_timeout: 5, idle_timeout: 5, connect_timeout: 1 }
  - log
`;

/** A gateway.yaml with one upstream of some formats and the model `test` on it. */
export function yamlFor(baseUrl: string, formats = '[chat, responses, messages, images]'): string {
  return `${wholePipeline}
upstreams: { one: { format: ${formats}, base_url: "${baseUrl}" } }
models: { test: { routes: [one/model-there] } }
`;
}

/** A whole gateway in this process, on a database of its own and a free port. */
export async function startGateway({ yaml, environment = {}, log = silentLog }: GatewayOptions): Promise<TestGateway> {
  const { folder, file, write, databaseUrl } = await prepare(yaml);
  const gateway = await Gateway.start({ file, environment: { DATABASE_URL: databaseUrl, ...environment }, log });
  const { database } = gateway.host;
  const { key, accountId } = await createAccount(database, 'dp', {
    name: 'Test',
    period: { days: 1, reason: 'grant', label: 'test' },
  });
  return {
    gateway,
    url: gateway.url,
    key,
    accountId,
    database,
    folder,
    file,
    write,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await dropDatabase(databaseUrl);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface GatewayProcess extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly url: string;
  /** Everything that it has printed. */
  readonly output: () => string;
  /** Sends a signal and waits for the end. @returns the exit code, or the signal's name */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

export interface GatewayHome extends AsyncDisposable {
  readonly folder: string;
  readonly file: string;
  readonly databaseUrl: string;
  readonly key: string;
  readonly accountId: string;
  /** Connected to the gateway's database, for looking at what it has left there. */
  readonly database: Database;
  write(yaml: string): Promise<void>;
  /** Starts `gateway start` as a process of its own. Several in a row share folder and database. */
  start(environment?: Record<string, string>): Promise<GatewayProcess>;
}

/** Folder, database and key for gateways that run as processes: to be killed, stopped and started again. */
export async function createGatewayHome(yaml: string): Promise<GatewayHome> {
  const { folder, file, write, databaseUrl } = await prepare(yaml);
  const database = await openDatabase({
    url: databaseUrl,
    dataFolder: folder,
    log: silentLog,
    mode: 'command',
    isShared: true,
  });
  const { key, accountId } = await createAccount(database, 'dp', {
    name: 'Test',
    period: { days: 1, reason: 'grant' },
  });
  const running = new Set<GatewayProcess>();
  return {
    folder,
    file,
    databaseUrl,
    key,
    accountId,
    database,
    write,
    async start(environment = {}) {
      const started = await spawnGateway(file, { DATABASE_URL: databaseUrl, ...environment });
      running.add(started);
      return started;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((started) => started[Symbol.asyncDispose]()));
      await database[Symbol.asyncDispose]();
      await dropDatabase(databaseUrl);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function prepare(yaml: string) {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-gateway-'));
  const file = join(folder, 'gateway.yaml');
  const write = (text: string) => writeFile(file, `listen: { port: 0, drain_timeout: 5 }\n${text}`);
  await write(yaml);
  return { folder, file, write, databaseUrl: await createBareDatabase() };
}

async function spawnGateway(file: string, environment: Record<string, string>): Promise<GatewayProcess> {
  const main = join(import.meta.dirname, '..', '..', 'core', 'main.ts');
  const inherited = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const child = spawn(process.execPath, [main, '--config', file, 'start'], { env: { ...inherited, ...environment } });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    output += `${line}\n`;
    const url = /Base URL\s+(http\S+)\/v1/.exec(line)?.[1];
    if (url !== undefined) resolve(url);
  });
  void exited.then(() => reject(new Error(`the gateway ended before it was ready:\n${output}`)));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const [code, by] = await exited;
    return code ?? String(by);
  };
  return {
    process: child,
    url: await promise,
    output: () => output,
    end,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await end('SIGKILL');
    },
  };
}
