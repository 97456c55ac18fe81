import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NewRequests } from '#core/gateway/records/new-requests.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { hour, RecordBook, today } from './record-fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const now = today + hour;

async function idsOf(requests: NewRequests): Promise<string[]> {
  const pages = await Array.fromAsync(requests.read());
  return pages.flat().map(({ id }) => id);
}

describe('new requests', () => {
  it('are read once each in the order of their arrival, whenever they began', async () => {
    const book = new RecordBook(database);
    const requests = new NewRequests(database, { accountId: book.accountId }, () => now);
    await book.write({ started_at: now - 5 });
    await requests.begin();
    const [late] = await book.write({ started_at: now - 1 });
    expect(await idsOf(requests)).toEqual([late]);
    const [long] = await book.write({ started_at: now - 50_000 });
    const [other] = await book.write({ started_at: now - 40_000 });
    expect(await idsOf(requests)).toEqual([long, other]);
    expect(await idsOf(requests)).toEqual([]);
  });

  it('are found when their transaction began before the last reading and ended after it', async () => {
    const book = new RecordBook(database);
    const requests = new NewRequests(database, { accountId: book.accountId }, () => now);
    await requests.begin();
    const [id = ''] = await book.write({ started_at: now - 5 });
    await database.fork().transactional(async (transaction) => {
      await transaction.execute(`UPDATE request_log SET id = 'req_late' WHERE id = ?`, [id]);
      await book.write({ started_at: now - 4 });
      expect(await idsOf(requests)).toHaveLength(2);
      expect(await idsOf(requests)).toEqual([]);
    });
    expect(await idsOf(requests)).toEqual(['req_late']);
  });

  it('are read again from the first that was not read, after a failure', async () => {
    const book = new RecordBook(database);
    let left = Infinity;
    const failing: Pick<Database, 'query'> = {
      query: (sql, parameters) => (--left < 0 ? Promise.reject(new Error('down')) : database.query(sql, parameters)),
    };
    const requests = new NewRequests(failing, { accountId: book.accountId }, () => now);
    await requests.begin();
    left = 2;
    const ids = await book.write(...Array.from({ length: 501 }, (_, index) => ({ started_at: now - 1_000 + index })));
    const read: string[] = [];
    await expect(
      (async () => {
        for await (const page of requests.read()) read.push(...page.map(({ id }) => id));
      })(),
    ).rejects.toThrow('down');
    expect(read).toHaveLength(500);
    left = Infinity;
    expect([...read, ...(await idsOf(requests))]).toEqual(ids);
  });

  it('are those of the filter', async () => {
    const book = new RecordBook(database);
    const requests = new NewRequests(database, { accountId: book.accountId, errors: true }, () => now);
    await requests.begin();
    const [, failed] = await book.write({ started_at: now - 3 }, { started_at: now - 2, outcome: 'failed' });
    expect(await idsOf(requests)).toEqual([failed]);
  });
});
