import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columns, type RequestRecord } from '#core/gateway/records/columns.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { findRequest, listRequests, exportPageSize, readRequests } from '#core/gateway/records/read-requests.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { day, explain, hour, partitionsOf, RecordBook, today } from './record-fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const idsOf = (records: readonly RequestRecord[]) => records.map(({ id }) => id);

describe('one request', () => {
  it('has every column as it was written, and null for the others', async () => {
    const book = new RecordBook(database);
    const known: Partial<RequestRecord> = {
      started_at: today + 12_345,
      key_hint: 'dp-a1b2…wxyz',
      format: 'chat',
      is_stream: true,
      duration_ms: 5_000_000_000,
      bytes_out: 412,
      route: 'openai/gpt-6-sol',
      has_failover: true,
      attempts: [{ route: 'openai/gpt-6-sol', outcome: 'served', started_ms: 3, duration_ms: 812, status: 200 }],
      notes: ['dropped logit_bias', 'approximated "x"'],
      input_tokens: 2_147_483_647,
      usage_estimated: false,
      user_agent: 'OpenAI/JS 7.55.0',
    };
    const [id = ''] = await book.write(known);
    const record = await findRequest(database, id);
    expect(record).toMatchObject({ id, account_id: book.accountId, status: 200, error_code: null, ...known });
    expect(Object.keys(record ?? {})).toEqual(Object.keys(columns));
  });

  it('is read from the partition of its day alone', async () => {
    const book = new RecordBook(database);
    const ids = await book.write(
      {},
      { started_at: today - 1 },
      { started_at: today + day },
      { started_at: today + 2 * day },
    );
    const partitions = ids.map((id) => partitionsOf(database, (explaining) => findRequest(explaining, id)));
    expect(await Promise.all(partitions)).toEqual([
      new Set(['request_log_20310512']),
      new Set(['request_log_20310511']),
      new Set(['request_log_20310513']),
      new Set(['request_log_20310514']),
    ]);
  });

  it('is found for its own account only', async () => {
    const book = new RecordBook(database);
    const [id = ''] = await book.write({});
    expect(await findRequest(database, id, book.accountId)).toMatchObject({ id });
    expect(await findRequest(database, id, randomUUID())).toBeUndefined();
  });

  it.each(['', 'nonsense', createRequestId(today), createRequestId(0), `req_${'f'.repeat(32)}`])(
    'is undefined for the id "%s"',
    async (id) => {
      expect(await findRequest(database, id)).toBeUndefined();
    },
  );
});

describe('a page of requests', () => {
  it('lists an account newest first, across days', async () => {
    const book = new RecordBook(database);
    const [b, c, a] = await book.write(
      { started_at: today - 5 },
      { started_at: today + 5 },
      { started_at: today - day },
    );
    await new RecordBook(database).write({});
    const page = await listRequests(database, { accountId: book.accountId });
    expect([idsOf(page.records), page.next]).toEqual([[c, b, a], undefined]);
  });

  it('continues where the last one ended, though records share a millisecond and others arrive', async () => {
    const book = new RecordBook(database);
    const written = await book.write(
      ...Array.from({ length: 7 }, (_, index) => ({ started_at: today + (index >> 2) })),
    );
    const read: string[] = [];
    let before: string | undefined;
    do {
      const page = await listRequests(database, { accountId: book.accountId }, { limit: 2, before });
      read.push(...idsOf(page.records));
      before = page.next;
      await book.write({ started_at: today + hour });
    } while (before !== undefined);
    expect(read).toEqual(written.toSorted().toReversed());
  });

  it('has no next page when it is exactly full', async () => {
    const book = new RecordBook(database);
    await book.write({}, {});
    expect((await listRequests(database, { accountId: book.accountId }, { limit: 2 })).next).toBeUndefined();
  });

  it.each(['nonsense', '', `req_${'f'.repeat(32)}`])('refuses to continue after "%s"', async (before) => {
    await expect(listRequests(database, {}, { before })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('shows only the own account, whose id ever it continues after', async () => {
    const book = new RecordBook(database);
    const [own] = await book.write({ started_at: today });
    const [other] = await new RecordBook(database).write({ started_at: today + 1 });
    expect(idsOf((await listRequests(database, { accountId: book.accountId }, { before: other })).records)).toEqual([
      own,
    ]);
  });

  it('is sorted by the indexed columns, not by the numbers that are returned', async () => {
    const book = new RecordBook(database);
    await book.write({});
    const plan = await explain(database, (explaining) => listRequests(explaining, { accountId: book.accountId }));
    expect(plan).not.toMatch(/extract/i);
  });

  it('leaves out the partitions that are newer than its beginning', async () => {
    const book = new RecordBook(database);
    await book.write({}, { started_at: today + day });
    const before = createRequestId(today);
    const read = await partitionsOf(database, (explaining) => listRequests(explaining, {}, { before }));
    expect([read.has('request_log_20310512'), read.has('request_log_20310513')]).toEqual([true, false]);
  });

  it.each<[string, RequestFilter, Partial<RequestRecord>, Partial<RequestRecord>]>([
    ['model', { model: 'claude' }, { model: 'claude' }, { model: 'gpt-6-sol' }],
    ['route', { route: 'a/b' }, { route: 'a/b' }, { route: 'a/c' }],
    ['outcome', { outcome: 'aborted' }, { outcome: 'aborted' }, { outcome: 'answered' }],
    ['status', { status: [400, 499] }, { status: 429 }, { status: 500 }],
    ['failover', { hasFailover: true }, { has_failover: true }, { has_failover: false }],
    ['no failover', { hasFailover: false }, {}, { has_failover: true }],
    ['cache hits', { isCached: true }, { cache: 'hit' }, { cache: 'miss' }],
    ['no cache hits', { isCached: false }, {}, { cache: 'hit' }],
    ['metered requests', { isMetered: true }, { is_metered: true }, { is_metered: false }],
    ['since', { since: today }, { started_at: today }, { started_at: today - 1 }],
    ['until', { until: today }, { started_at: today - 1 }, { started_at: today }],
  ])('filters by %s', async (_, filter, matching, other) => {
    const book = new RecordBook(database);
    const [id] = await book.write(matching, other);
    expect(idsOf((await listRequests(database, { accountId: book.accountId, ...filter })).records)).toEqual([id]);
  });
});

describe('a filter with a value that no record can have', () => {
  it.each<[string, RequestFilter]>([
    ['an account that is not a UUID', { accountId: "x' OR true --" }],
    ['a model with NUL', { model: '\0' }],
    ['a route with NUL', { route: 'a\0b' }],
    ['a status that is not one', { status: [1e9, 1e12] }],
  ])('matches nothing: %s', async (_, filter) => {
    await new RecordBook(database).write({});
    expect((await listRequests(database, filter)).records).toEqual([]);
  });
});

describe('all requests', () => {
  it('come page by page, each once, newest first', async () => {
    const book = new RecordBook(database);
    const written = await book.write(
      ...Array.from({ length: exportPageSize + 3 }, (_, index) => ({ started_at: today + index })),
    );
    const read = await Array.fromAsync(readRequests(database, { accountId: book.accountId }));
    expect(idsOf(read)).toEqual(written.toReversed());
  });
});
