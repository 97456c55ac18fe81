import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { listAndCount } from '#core/gateway/records/list-and-count.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { countMisread, day, explain, RecordBook, today } from './record-fixture.ts';

let database: Database;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const book = new RecordBook(database);
  ({ accountId } = book);
  await book.write({ model: 'dp/rare' });
  // As many as make an index worth its while, of which few are anything but answered.
  await database.query(
    `INSERT INTO request_log (id, started_at, instance, account_id, method, path, endpoint, is_metered, model, outcome, status)
     SELECT 'r' || i, ?::timestamptz + i * interval '1 second', 'test', ?, 'POST', '/', 'chat', true, 'dp/usual', 'answered', 200
     FROM generate_series(1, 20000) AS i`,
    [new Date(today).toISOString(), accountId],
  );
  // On another day, of many accounts, one of ten is rare.
  await book.write({ started_at: today + day });
  await database.query(
    `INSERT INTO request_log (id, started_at, instance, account_id, method, path, endpoint, is_metered, model, outcome, status, has_failover)
     SELECT 'r' || i, ?::timestamptz + i * interval '1 second', 'test', gen_random_uuid(), 'POST', '/', 'chat', true, 'dp/usual',
       CASE WHEN i % 30 = 0 THEN 'failed' WHEN i % 30 = 10 THEN 'aborted' ELSE 'answered' END, CASE WHEN i % 30 = 0 THEN 502 ELSE 200 END,
       i % 30 = 20
     FROM generate_series(1, 20000) AS i`,
    [new Date(today + day).toISOString()],
  );
  await database.query('ANALYZE request_log');
});
afterAll(() => database[Symbol.asyncDispose]());

describe('a page of requests', () => {
  it.each<[string, RequestFilter, string]>([
    ['of a model', { model: 'dp/rare' }, 'request_log_model'],
    ['of a route', { route: 'a/b' }, 'request_log_route'],
    ['of errors', { errors: true }, 'request_log_bad'],
    ['of failed requests', { outcome: 'failed' }, 'request_log_bad'],
    ['of failovers', { hasFailover: true }, 'request_log_failovers'],
    ['from the cache', { isCached: true }, 'request_log_hits'],
    ['of a class of errors', { status: [500, 599] }, 'request_log_status'],
    ['of a status that no request has', { status: [300, 399] }, 'request_log_status'],
  ])('%s is found by an index for it', async (_, filter, index) => {
    const whole = { accountId, since: today, until: today + day, ...filter };
    const plan = await explain(database, (explaining) => listRequests(explaining, whole), ofRecords);
    expect(await parentsOf(plan)).toEqual([index]);
  });
});

describe('a page of requests of all accounts', () => {
  it.each<[string, RequestFilter, string]>([
    ['of any', {}, 'request_log_pkey'],
    ['of errors', { errors: true }, 'request_log_rare'],
    ['of failovers', { hasFailover: true }, 'request_log_rare'],
    ['of requests whose clients left', { outcome: 'aborted' }, 'request_log_rare'],
  ])('%s is found by an index for it', async (_, filter, index) => {
    const plan = await explain(
      database,
      (explaining) => listRequests(explaining, { since: today + day, until: today + 2 * day, ...filter }),
      ofRecords,
    );
    expect(await parentsOf(plan)).toEqual([index]);
  });

  it.each<[string, RequestFilter]>([
    ['of errors of a route', { status: [500, 599], route: 'no/such' }],
    ['of errors of a model', { status: [500, 599], model: 'dp/none' }],
    ['of failures that were answered in the end', { hasFailover: true, status: [500, 599] }],
    ['of failovers whose clients left', { hasFailover: true, outcome: 'aborted' }],
    ['of errors from the cache', { isCached: true, errors: true }],
    ['of the end of a process', { outcome: 'interrupted' }],
    ['of a status that no request has', { status: [404, 404] }],
  ])('%s reads no record in vain, and neither does their count', async (_, filter) => {
    const whole = { since: today + day, until: today + 2 * day, ...filter };
    expect(
      await countMisread(database, (reading) => listAndCount(reading, whole, { limit: 25, before: undefined })),
    ).toBe(0);
  });
});

it('a page of a model and a route of an account, which go together in no hour, reads no record', async () => {
  const reading = { query: vi.fn<Database['query']>((...given) => database.query(...given)) };
  const filter = { accountId, model: 'dp/usual', route: 'no/such', since: today, until: today + day };
  expect((await listRequests(reading as never, filter)).records).toEqual([]);
  expect(reading.query.mock.calls.filter(([sql]) => ofRecords.test(sql))).toEqual([]);
});

const ofRecords = /FROM request_log/;

/** The indexes of `request_log` whose parts a plan uses. */
async function parentsOf(plan: string): Promise<string[]> {
  const parts = [...plan.matchAll(/Index (?:Only )?Scan (?:Backward )?(?:using|on) (\w+)/g)].map(([, name]) => name);
  const rows = await database.query<{ name: string }>(
    `SELECT DISTINCT parent.relname AS name FROM pg_inherits
     JOIN pg_class part ON part.oid = inhrelid JOIN pg_class parent ON parent.oid = inhparent
     WHERE part.relkind = 'i' AND part.relname IN (?)`,
    [parts],
  );
  return rows.map(({ name }) => name);
}
