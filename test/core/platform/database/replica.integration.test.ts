import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { countRequests } from '#core/gateway/records/count-requests.ts';
import { readDailyUsage } from '#core/gateway/records/daily-usage.ts';
import { listHeaviestAccounts } from '#core/gateway/records/heaviest-accounts.ts';
import { readKeyUse } from '#core/gateway/records/key-use.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import { countUsage, listUsedModels } from '#core/gateway/records/usage.ts';
import type { OpenedDatabase } from '#core/platform/database/open.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { createLogger } from '#core/platform/logger.ts';
import { databaseDiagnoses } from '#core/process/doctor/database.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from '../../../support/postgres-replica.ts';
import { createTcpProxy, type TcpProxy } from '../../../support/tcp-proxy.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

/** Of docs/scaling.md. */
const readTables = 'request_log, usage_hour, usage_account, usage_total, usage_delta';
const root = join(import.meta.dirname, '../../../..');

describe('a streaming replica', () => {
  let servers: ReplicatedPostgres;
  let database: OpenedDatabase;
  let proxy: TcpProxy;
  let readUrl: string;
  const lines: string[] = [];

  beforeAll(async () => {
    servers = await startReplicatedPostgres();
    const options = {
      url: servers.primaryUrl,
      dataFolder: tmpdir(),
      log: createLogger((line) => lines.push(line)),
      mode: 'command',
      isShared: true,
    } as const;
    await using migrated = await openDatabase(options);
    await migrated.query(`CREATE ROLE reader LOGIN PASSWORD 'word'`);
    await migrated.query(`GRANT SELECT ON ${readTables} TO reader`);
    const url = new URL(servers.replicaUrl);
    proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
    Object.assign(url, { username: 'reader', password: 'word', port: proxy.port });
    readUrl = url.href;
    await replayed('reader');
    database = await openDatabase({ ...options, readUrl });
  });
  afterAll(async () => {
    await database[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  /** Waits until the replica has this role, and with it all before. */
  async function replayed(role: string): Promise<void> {
    await onReplica(async (client) => {
      await vi.waitFor(
        async () => {
          const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
          expect(rowCount).toBe(1);
        },
        { timeout: 30_000 },
      );
    });
  }

  async function onReplica<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(servers.replicaUrl);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  it('answers everything that is read there, for a role that can read five tables and write nothing', async () => {
    const { records } = database;
    const since = Date.now() - 3_600_000;
    const account = '01a21a7d-54b0-70b0-9c35-0191aa392536';
    await vi.waitFor(() => expect(records.replica).toMatchObject({ fault: undefined }), { timeout: 20_000 });
    lines.length = 0;
    await listRequests(records, { model: 'm' });
    await listRequests(records, { accountId: account, errors: true });
    await countRequests(records, { since, until: Date.now() });
    await countRequests(records, { status: [429, 429] });
    await listUsedModels(records, { accountId: account, since });
    await listUsedModels(records, { since });
    await countUsage(records, { since }, ['hour']);
    await readDailyUsage(records, { timeZone: 'Asia/Jakarta', days: 2 });
    await listHeaviestAccounts(records, { since, limit: 3 });
    await readKeyUse(records, [account], since);
    const [{ standby } = {}] = await records.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
    expect([standby, lines]).toEqual([true, []]);
  });

  it('refuses everything else, which the primary then answers', async () => {
    await database.records.query('SELECT FROM account');
    expect(lines).toEqual([expect.stringContaining('its user lacks a privilege')]);
  });

  it('is diagnosed, as are a missing right and a server that is not a replica', async () => {
    const diagnose = async (url: string) => {
      const [diagnosis] = databaseDiagnoses({ DATABASE_URL: servers.primaryUrl, DATABASE_READ_URL: url }, []);
      const checks = [...(diagnosis?.checks({ dataFolder: tmpdir(), now: Date.now } as never) ?? [])];
      return checks.find(({ subject }) => subject === 'DATABASE_READ_URL')?.run({} as never);
    };
    expect(await diagnose(readUrl)).toMatchObject({
      state: 'ok',
      text: expect.stringContaining('a replica') as string,
    });
    expect(await diagnose(servers.primaryUrl)).toMatchObject({ state: 'warning' });
    await database.query('REVOKE SELECT ON usage_delta FROM reader');
    await database.query('CREATE ROLE second');
    await replayed('second');
    expect(await diagnose(readUrl)).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('cannot read usage_delta') as string,
    });
    await database.query('GRANT SELECT ON usage_delta TO reader');
  });

  it('that falls silent leaves its statements to the primary', async () => {
    await vi.waitFor(() => expect(database.records.replica?.fault).toBeUndefined(), { timeout: 30_000 });
    proxy.turn('stall');
    const [row] = await database.records.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
    expect(row?.standby).toBe(false);
    await vi.waitFor(() => expect(database.records.replica?.fault ?? '').toContain('no response in time'), {
      timeout: 20_000,
    });
    proxy.turn('open');
    await vi.waitFor(() => expect(database.records.replica?.fault).toBeUndefined(), { timeout: 30_000 });
  });
});

it('only lists, exports and counts of requests are read from a replica', async () => {
  const users: string[] = [];
  for (const folder of ['core', 'plugins'])
    for (const name of await readdir(join(root, folder), { recursive: true })) {
      if (!name.endsWith('.ts')) continue;
      if (/database\.records\b/.test(await readFile(join(root, folder, name), 'utf8'))) users.push(join(folder, name));
    }
  // Money, keys and periods must not come from there: think before you add a file.
  expect(users.toSorted()).toEqual([
    'core/gateway/health/replica-health.ts',
    'plugins/balances/configured-balances.ts',
    'plugins/cached-input/fallen-shares.ts',
    'plugins/cached-input/gauges.ts',
    'plugins/cached-input/reading.ts',
    'plugins/dashboard/requests/export/export-stream.ts',
    'plugins/dashboard/requests/list-page.ts',
    'plugins/operator/health/page.ts',
    'plugins/operator/readings.ts',
  ]);
});
