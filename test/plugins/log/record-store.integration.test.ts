import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { dropPartitionsBefore } from '../../../plugins/log/partitions.ts';
import { isPersistentFailure, isRecordRefused, PostgresRecordStore } from '../../../plugins/log/record-store.ts';
import { createTestDatabase } from '../../support/database.ts';
import { line, recordsOf, requestCount } from './database-fixture.ts';

let account: string;
let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  account = randomUUID();
  await database.query(`INSERT INTO account (id, name) VALUES (?, 'test')`, [account]);
});

describe('record store', () => {
  it('inserts and counts a record once', async () => {
    const store = new PostgresRecordStore(database);
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const lines = ids.map((id) => line(account, id));
    await store.insert('one', lines.slice(0, 2));
    await store.insert('one', lines);
    await store.insert('two', [...lines, ...lines]);
    expect(await recordsOf(database, ids)).toHaveLength(3);
    expect(await requestCount(database, account)).toBe(3);
  });

  it('keeps the first record of a request', async () => {
    const store = new PostgresRecordStore(database);
    const id = randomUUID();
    const answered = line(account, id);
    await store.insert('one', [answered]);
    await store.insert('two', [answered.replace('answered', 'interrupted')]);
    expect(await recordsOf(database, [id])).toMatchObject([{ outcome: 'answered', instance: 'one' }]);
  });

  it('counts exactly when instances ship the same records at once', async () => {
    const store = new PostgresRecordStore(database);
    const other = randomUUID();
    await database.query(`INSERT INTO account (id, name) VALUES (?, 'other')`, [other]);
    const lines = Array.from({ length: 400 }, (_, index) =>
      line(account, randomUUID(), { account_id: index % 2 === 0 ? account : other }),
    );
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => store.insert('x', index % 2 === 0 ? lines : lines.toReversed())),
    );
    expect(await requestCount(database, account)).toBe(200);
  });

  it('creates a missing partition', async () => {
    const store = new PostgresRecordStore(database);
    const id = randomUUID();
    await store.insert('one', [line(account, id, { started_at: Date.UTC(2024, 1, 29, 23, 59, 59, 999) })]);
    expect(await database.query('SELECT tableoid::regclass::text AS name FROM request_log WHERE id = ?', [id])).toEqual(
      [{ name: 'request_log_20240229' }],
    );
    await dropPartitionsBefore(database, Date.UTC(2024, 2, 1));
  });

  it('probes without a trace, and fails where a record could not be stored', async () => {
    const store = new PostgresRecordStore(database);
    const count = async () => database.query('SELECT count(*) AS count FROM request_log');
    const before = await count();
    await store.probe();
    expect(await count()).toEqual(before);
    await database.query('ALTER TABLE request_log RENAME TO elsewhere');
    try {
      await expect(store.probe()).rejects.toSatisfy(isPersistentFailure);
    } finally {
      await database.query('ALTER TABLE elsewhere RENAME TO request_log');
    }
  });

  it.each([
    ['an outcome that is none', { outcome: 'lost' }],
    ['a time that is none', { started_at: 'yesterday' }],
    ['a time in another age', { started_at: 1 }],
    ['a status that is too large', { status: 99_999 }],
  ])('refuses %s, and says that trying again is useless', async (_, changes) => {
    const store = new PostgresRecordStore(database);
    await expect(store.insert('one', [line(account, randomUUID(), changes)])).rejects.toSatisfy(isRecordRefused);
  });
});
