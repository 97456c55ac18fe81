import { tmpdir } from 'node:os';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { releaseLostClients } from '#core/platform/database/lost-clients.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { createTestDatabase, silentLog } from '../../../support/database.ts';
import { createTcpProxy, type TcpProxy } from '../../../support/tcp-proxy.ts';

// Pools of ten connections lose each of them.
vi.setConfig({ testTimeout: 60_000 });

let given: Database;
beforeAll(async () => {
  given = await createTestDatabase();
});
afterAll(() => given[Symbol.asyncDispose]());

const poolSize = 10;

/** A database of which the test can cut the connections. */
async function openBehindProxy(): Promise<{ proxy: TcpProxy; database: Database }> {
  const url = new URL(given.url);
  const proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${proxy.port}`;
  const database = await openDatabase({
    url: url.href,
    dataFolder: tmpdir(),
    log: silentLog,
    mode: 'command',
    isShared: true,
  });
  return { proxy, database };
}

/** A transaction whose connection is lost before its second statement. */
async function lose(database: Database, proxy: TcpProxy): Promise<void> {
  const lost = database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1');
    proxy.turn('cut');
    await transaction.execute('select 2');
  });
  await expect(lost).rejects.toThrow();
  proxy.turn('open');
}

it('transactions that lose their connection leave the pool usable', async () => {
  const { proxy, database } = await openBehindProxy();
  for (let count = 0; count < poolSize + 1; count++) await lose(database, proxy);
  const answer = await database.fork().transactional((transaction) => transaction.execute('select 1 as one'));
  expect(answer).toEqual([{ one: 1 }]);
  await database[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

it('a transaction whose BEGIN is lost does not keep the database from closing', async () => {
  const { proxy, database } = await openBehindProxy();
  await database.fork().transactional((transaction) => transaction.execute('select 1'));
  proxy.cutAfter(1);
  await expect(database.fork().transactional(async () => undefined)).rejects.toThrow();
  await database[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

it('a connection on which a query got no reply in time is closed, and its place is free', async () => {
  const url = new URL(given.url);
  await using proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${proxy.port}`;
  const pool = new pg.Pool({ connectionString: url.href, query_timeout: 1_000 });
  releaseLostClients(pool);
  const client = await pool.connect();
  client.on('error', () => undefined);
  proxy.turn('stall');
  await expect(client.query('select 1')).rejects.toThrow('Query read timeout');
  // Nobody releases it.
  await pool.end();
  expect(pool.totalCount).toBe(0);
});
