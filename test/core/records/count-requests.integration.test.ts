import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#core/database/database.ts';
import { countRequests } from '#core/records/count-requests.ts';
import { createTestDatabase } from '../../support/database.ts';
import { hour, partitionsOf, RecordBook, today } from './record-fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('counts of requests', () => {
  it('tell errors from refusals and clients that left, and add up tokens', async () => {
    const book = new RecordBook(database);
    await book.write(
      { input_tokens: 2_147_483_647, output_tokens: 1 },
      { input_tokens: 2_147_483_647 },
      { outcome: 'failed', status: 502 },
      { outcome: 'interrupted', status: null },
      { outcome: 'refused', status: 429 },
      { outcome: 'aborted', status: null },
    );
    expect(await countRequests(database, { accountId: book.accountId }, [])).toEqual([
      { requests: 6, errors: 2, refused: 1, input_tokens: 4_294_967_294, output_tokens: 1 },
    ]);
  });

  it('are zero where there are no requests', async () => {
    const { accountId } = new RecordBook(database);
    expect(await countRequests(database, { accountId }, [])).toEqual([
      { requests: 0, errors: 0, refused: 0, input_tokens: 0, output_tokens: 0 },
    ]);
    expect(await countRequests(database, { accountId }, ['hour'])).toEqual([]);
  });

  it('are grouped by account, model, route and hour, in this order', async () => {
    const book = new RecordBook(database);
    await book.write(
      { started_at: today + hour, model: 'b', route: 'x/b' },
      { started_at: today + hour - 1, model: 'b', route: 'x/b' },
      { started_at: today, model: 'b', route: 'x/b', outcome: 'failed' },
      { started_at: today, model: 'a', route: null, outcome: 'refused' },
    );
    const counts = await countRequests(database, { accountId: book.accountId }, ['account', 'model', 'route', 'hour']);
    const account = book.accountId;
    expect(counts).toMatchObject([
      { account, model: 'a', route: null, hour: today, requests: 1, errors: 0, refused: 1 },
      { account, model: 'b', route: 'x/b', hour: today, requests: 2, errors: 1, refused: 0 },
      { account, model: 'b', route: 'x/b', hour: today + hour, requests: 1, errors: 0, refused: 0 },
    ]);
  });

  it('read only the days that are asked for', async () => {
    const book = new RecordBook(database);
    await book.write({}, { started_at: today + 24 * hour });
    const filter = { accountId: book.accountId, since: today, until: today + hour };
    expect(await partitionsOf(database, (explaining) => countRequests(explaining, filter, ['hour']))).toEqual(
      new Set(['request_log_20310512']),
    );
  });
});
