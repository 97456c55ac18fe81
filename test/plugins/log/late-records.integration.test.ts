import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { dropPartitionsBefore } from '../../../plugins/log/partitions.ts';
import { PostgresRecordStore } from '../../../plugins/log/record-store.ts';
import { createTestDatabase } from '../../support/database.ts';
import { recordsOf, requestCount } from './database-fixture.ts';
import { arrive, identify, openLog, outcome, TemporaryFolder, until } from './fixture.ts';

const old = Date.UTC(2022, 4, 17, 12);
let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

async function createAccount(): Promise<string> {
  const account = randomUUID();
  await database.query(`INSERT INTO account (id, name) VALUES (?, 'test')`, [account]);
  return account;
}

/** On a slow machine, the records hold the day for longer than a drop waits. */
function noLock(error: unknown): string[] {
  if ((error as { code?: string }).code === '55P03') return [];
  throw error;
}

it('late records of a dropped day are stored, with those of today that came with them', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder, store: new PostgresRecordStore(database) });
  const account = await createAccount();
  const ids = [old, Date.now(), old - 86_400_000].map((receivedAt) => {
    const exchange = identify(arrive({ id: `req_${randomUUID().replaceAll('-', '')}`, receivedAt }), account);
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome());
    return exchange.id;
  });
  await until(async () => (await recordsOf(database, ids)).length === 3);
  expect(await requestCount(database, account)).toBe(3);
  expect(await dropPartitionsBefore(database, Date.UTC(2022, 5, 1))).toEqual(['20220516', '20220517']);
});

it('late records are counted once while their day is dropped again and again, and none is rejected', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder, store: new PostgresRecordStore(database), segmentAgeMs: 5 });
  const account = await createAccount();
  const shipped = new AbortController();
  let drops = 0;
  const dropping = (async () => {
    while (!shipped.signal.aborted)
      drops += (await dropPartitionsBefore(database, Date.UTC(2022, 5, 1)).catch(noLock)).length;
  })();
  for (let index = 0; index < 120; index++) {
    const exchange = identify(arrive({ receivedAt: index % 3 === 0 ? Date.now() : old + index }), account);
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome());
    if (index % 10 === 9) await until(async () => (await requestCount(database, account)) === index + 1);
  }
  await until(async () => (await requestCount(database, account)) === 120);
  shipped.abort();
  await dropping;
  expect(drops).toBeGreaterThan(1);
  expect(await requestCount(database, account)).toBe(120);
  expect(existsSync(join(folder.path, 'journal', 'rejected'))).toBe(false);
});
