import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countRequests } from '#core/gateway/records/count-requests.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import type { Database } from '#core/platform/database/database.ts';
import { dropPartitionsBefore } from '../../../../plugins/log/partitions.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { hour, partitionsOf, RecordBook, today } from './record-fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const times = [-hour - 1, -hour, -1, 0, 1, hour - 1, hour, 2 * hour + 1].map((offset) => today + offset);

describe('the number of matching requests', () => {
  it.each<[string, RequestFilter]>([
    ['all', {}],
    ['a model', { model: 'dp/gpt-6-sol' }],
    ['a route', { route: 'a/b' }],
    ['errors', { errors: true }],
    ['failovers', { hasFailover: true }],
    ['replies from the cache', { isCached: true }],
    ['errors after a failover', { errors: true, hasFailover: true }],
    ['a status', { status: [400, 499] }],
    ['an outcome', { outcome: 'aborted' }],
    ['requests without failover', { hasFailover: false }],
    ['metered requests', { isMetered: true }],
  ])('is the length of their list: %s', async (_, filter) => {
    const book = new RecordBook(database);
    for (const started_at of times)
      await book.write(
        { started_at, model: 'dp/gpt-6-sol', route: 'a/b' },
        { started_at, model: 'short', alias_of: 'dp/gpt-6-sol', outcome: 'failed', status: 502, has_failover: true },
        { started_at, outcome: 'refused', status: 429, is_metered: false, cache: 'hit' },
        { started_at, outcome: 'aborted', has_failover: true },
      );
    const { accountId } = book;
    for (const [since, until] of [
      [undefined, undefined],
      [today, undefined],
      [today + 1, undefined],
      [today - hour, today + hour],
      [today - hour + 1, today + 2 * hour + 1],
      [today + 1, today + 2],
    ]) {
      const whole = { accountId, ...filter, since, until };
      const { records } = await listRequests(database, whole, { limit: 500 });
      expect(await countRequests(database, whole)).toEqual({ count: records.length, isCapped: false });
    }
  });

  it('stops at the limit where all matching requests must be read', async () => {
    const book = new RecordBook(database);
    await book.write({}, {}, {});
    const filter: RequestFilter = { accountId: book.accountId, isMetered: true };
    expect(await countRequests(database, filter, { limit: 2 })).toEqual({ count: 2, isCapped: true });
    expect(await countRequests(database, filter, { limit: 3 })).toEqual({ count: 3, isCapped: false });
  });

  it('leaves out requests whose records have been dropped, which usage still has', async () => {
    const book = new RecordBook(database);
    const old = Date.UTC(2020, 0, 1);
    await book.write({ started_at: old }, {});
    await dropPartitionsBefore(database, old + 24 * hour);
    expect(await countRequests(database, { accountId: book.accountId })).toMatchObject({ count: 1 });
  });

  it('reads usage instead of the records of whole hours', async () => {
    const book = new RecordBook(database);
    await book.write({ started_at: today - 24 * hour }, {});
    const read: string[] = [];
    const watched: Pick<Database, 'query'> = {
      query: (sql, parameters) => {
        read.push(/FROM \(SELECT FROM request_log/.test(sql) ? 'records' : 'usage');
        return database.query(sql, parameters);
      },
    };
    await countRequests(watched, { accountId: book.accountId, since: today - 24 * hour });
    expect(read).not.toContain('records');
  });
});

it('reads the partitions of the filtered days alone', async () => {
  const book = new RecordBook(database);
  await book.write({ started_at: today }, { started_at: today + 24 * hour });
  const read = await partitionsOf(database, (explaining) =>
    countRequests(explaining, { status: [200, 200], since: today, until: today + 24 * hour }),
  );
  expect([...read]).toEqual(['request_log_20310512']);
});
