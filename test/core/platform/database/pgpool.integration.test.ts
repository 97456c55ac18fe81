import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '#core/platform/database/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';
import { freePort } from '../../../support/free-port.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const isInstalled = spawnSync('pgpool', ['--version']).error === undefined;
const modes = ['raw', 'streaming_replication'] as const;

let folder: string;
let direct: string;
const poolers: ChildProcess[] = [];
const urls = new Map<string, string>();

async function startPgpool(mode: string): Promise<string> {
  const { hostname, port: backend } = new URL(direct);
  const [port, control] = [await freePort(), await freePort()];
  const file = join(folder, `${mode}.conf`);
  const settings = {
    backend_clustering_mode: mode,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    pcp_socket_dir: folder,
    wd_ipc_socket_dir: folder,
    backend_hostname0: hostname,
    backend_flag0: 'ALWAYS_PRIMARY',
    pid_file_name: join(folder, `${mode}.pid`),
    logdir: folder,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
  const numbers = { port, pcp_port: control, backend_port0: backend, num_init_children: 30, max_pool: 1 };
  lines.push(...Object.entries(numbers).map(([name, value]) => `${name} = ${value}`));
  await writeFile(file, [...lines, 'allow_clear_text_frontend_auth = on', ''].join('\n'));
  poolers.push(spawn('pgpool', ['-n', '-f', file], { stdio: 'ignore' }));
  const url = Object.assign(new URL(direct), { hostname: '127.0.0.1', port: String(port) }).href;
  await vi.waitFor(() => ask(url, 'SELECT 1'), { timeout: 30_000, interval: 100 });
  return url;
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

const open = (url: string, mode: 'serve' | 'command') =>
  openDatabase({ url, dataFolder: tmpdir(), log: silentLog, mode, isShared: true, entities: coreEntities });

describe.skipIf(!isInstalled)('Pgpool-II', () => {
  beforeAll(async () => {
    direct = await createBareDatabase();
    folder = await mkdtemp(join(tmpdir(), 'daypass-pgpool-'));
    for (const mode of modes) urls.set(mode, await startPgpool(mode));
  });
  afterAll(async () => {
    for (const pooler of poolers) {
      pooler.kill('SIGINT');
      await once(pooler, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
    await dropDatabase(direct);
  });

  it('that leaves single statements in a transaction is refused, with what to set', async () => {
    const url = urls.get('raw') ?? '';
    const refusal = await open(url, 'serve').catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      name: 'StartRefused',
      exitCode: 78,
      message: expect.stringMatching(/^DATABASE_URL leads to a pooler .* set backend_clustering_mode to streaming/),
    });
  });

  it('as that has no part in what providers rely on: it is committed when it is acknowledged', async () => {
    await using database = await open(urls.get('raw') ?? '', 'command');
    await database.query('CREATE TABLE kept (value int)');
    await database.storeFirst('INSERT INTO kept VALUES (?)', [1]);
    expect(await ask(direct, 'SELECT value FROM kept')).toEqual([{ value: 1 }]);
  });

  it('with replication by PostgreSQL is used as PostgreSQL itself', async () => {
    const url = urls.get('streaming_replication') ?? '';
    await using database = await open(url, 'serve');
    await database.query('CREATE TABLE other (value int)');
    await database.query('INSERT INTO other VALUES (?)', [1]);
    expect(await ask(direct, 'SELECT value FROM other')).toEqual([{ value: 1 }]);
  });
});
