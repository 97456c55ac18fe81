import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { createLogger } from '#core/platform/logger.ts';
import { coreEntities } from '#core/process/entities.ts';

/* Runs gateways as processes on a given PostgreSQL, for the tests and `npm run chaos`. Does not depend on Vitest. */

export interface GatewayProcess extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly url: string;
  readonly operatorUrl: string; // of the operator listener
  readonly output: () => string; // everything printed
  /** Returns the exit code, or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

export interface GatewayHome extends AsyncDisposable {
  readonly folder: string;
  readonly file: string;
  readonly databaseUrl: string;
  readonly key: string;
  readonly accountId: string;
  readonly database: Database; // for inspecting what the gateway stores
  /** @param listen content of the section; default: a short drain */
  write(yaml: string, listen?: string): Promise<void>;
  /** Successive processes share folder and database. `launcher` runs the command line in the folder of the sources; default: Node. */
  start(environment?: Record<string, string>, launcher?: readonly string[]): Promise<GatewayProcess>;
}

/** Its gateways run as processes, which can be killed. The database, migrated and empty, is kept when the home is disposed. */
export async function openGatewayHome(databaseUrl: string, yaml: string): Promise<GatewayHome> {
  const { folder, file, write } = await createGatewayFolder(yaml);
  const database = await openDatabase({
    entities: coreEntities,
    url: databaseUrl,
    dataFolder: folder,
    log: createLogger(() => undefined),
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
    async start(environment = {}, launcher = [process.execPath, 'core/main.mjs']) {
      const started = await spawnGateway(launcher, file, { DATABASE_URL: databaseUrl, ...environment });
      running.add(started);
      return started;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((started) => started[Symbol.asyncDispose]()));
      await database[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function createGatewayFolder(yaml: string) {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-gateway-'));
  const file = join(folder, 'gateway.yaml');
  const write = (text: string, listen = 'drain_timeout: 5') =>
    writeFile(file, `listen: { port: 0, notice_period: 0, ${listen} }\n${text}`);
  await write(yaml);
  return { folder, file, write };
}

async function spawnGateway(
  [program = '', ...parameters]: readonly string[],
  file: string,
  environment: Record<string, string>,
): Promise<GatewayProcess> {
  const inherited = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const child = spawn(program, [...parameters, '--config', file, 'start'], {
    cwd: join(import.meta.dirname, '..', '..'),
    // The log is in text, as on a terminal, because the tests read what a person would.
    env: { LOG_FORMAT: 'text', ...inherited, ...environment },
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    output += `${line}\n`;
    // The last lines that it prints when it starts.
    if (line.startsWith('  curl ')) resolve();
  });
  void exited.then(() => reject(new Error(`the gateway ended before it was ready:\n${output}`)));
  await promise;
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const [code, by] = await exited;
    return code ?? String(by);
  };
  return {
    process: child,
    url: /Base URL\s+(http\S+)\/v1/.exec(output)?.[1] ?? '',
    operatorUrl: /Operator\s+(http\S+)/.exec(output)?.[1] ?? '',
    output: () => output,
    end,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await end('SIGKILL');
    },
  };
}
