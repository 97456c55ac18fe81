import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { listAndCount } from '#core/gateway/records/list-and-count.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { day, RecordBook, today } from './record-fixture.ts';

let database: Database;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const book = new RecordBook(database);
  ({ accountId } = book);
  const failed = { outcome: 'failed', status: 502 } as const;
  await book.write(...Array.from({ length: 4 }, (_, index) => ({ ...failed, started_at: today + index })), {});
});
afterAll(() => database[Symbol.asyncDispose]());

/** What is found, and the statements that count records. */
async function find(filter: RequestFilter, limit: number, before?: string) {
  const counts: string[] = [];
  const watched: Pick<Database, 'query'> = {
    async query(sql, parameters) {
      if (/count\(\*\).*FROM request_log/.test(sql)) counts.push(sql);
      return database.query(sql, parameters);
    },
  };
  const whole = { accountId, since: today, until: today + day, ...filter };
  const [page, { count }] = await listAndCount(watched, whole, { limit, before });
  return { page, listed: page.records.length, count, readings: counts.length };
}

it('a list that ends on its first page is not counted again', async () => {
  expect(await find({ status: [502, 502] }, 4)).toMatchObject({ listed: 4, count: 4, readings: 0 });
  expect(await find({ status: [404, 404] }, 4)).toMatchObject({ listed: 0, count: 0, readings: 0 });
});

it('a first page that has a next one, and later pages, have the count of all records', async () => {
  const first = await find({ status: [502, 502] }, 3);
  expect(first).toMatchObject({ listed: 3, count: 4, readings: 1 });
  expect(await find({ status: [502, 502] }, 3, first.page.next)).toMatchObject({ listed: 1, count: 4, readings: 1 });
});
