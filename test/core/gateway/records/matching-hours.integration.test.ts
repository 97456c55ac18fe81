import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { foldUsage, removeOldUsage, removeUsage } from '#core/gateway/records/fold-usage.ts';
import { findMatchingHours } from '#core/gateway/records/matching-hours.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { day, hour, RecordBook, today } from './record-fixture.ts';

let database: Database;
const rare: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  const book = new RecordBook(database);
  await book.write(...Array.from({ length: 40 }, (_, index) => ({ started_at: today + index * 10 * 60_000 })));
  // Of two accounts, some in one hour, others days apart, and one of them from the cache.
  const times = [today - 3 * day, today - 1, today + hour, today + hour + 1, today + 5 * hour];
  for (const [index, started_at] of times.entries())
    rare.unshift(
      ...(await new RecordBook(database).write({ started_at, model: 'rare', cache: index === 2 ? 'hit' : null })),
    );
});
afterAll(() => database[Symbol.asyncDispose]());

const listed = async (filter: RequestFilter, before?: string, limit = 2) =>
  (await listRequests(database, filter, { limit, before })).records.map(({ id }) => id);

it('a page of a rare model of all accounts is read from the hours that have it', async () => {
  expect(await findMatchingHours(database, { model: 'rare' }, 3, undefined)).toEqual([today + 5 * hour, today + hour]);
  expect(await findMatchingHours(database, { model: 'rare' }, 9, undefined)).toHaveLength(4);
  expect(await findMatchingHours(database, { model: 'unknown' }, 9, undefined)).toEqual([]);
});

it('pages of matching hours follow each other, newest first, and end with the time of the filter', async () => {
  const filter = { model: 'rare' };
  expect(await listed(filter)).toEqual(rare.slice(0, 2));
  expect(await listed(filter, rare[1])).toEqual(rare.slice(2, 4));
  expect(await listed(filter, rare[3])).toEqual(rare.slice(4));
  expect(await listed({ ...filter, since: today + hour + 1 }, undefined, 9)).toEqual(rare.slice(0, 2));
  expect(await listed({ ...filter, until: today + hour + 1 }, undefined, 9)).toEqual(rare.slice(2));
  expect(await listed({ model: 'unknown' })).toEqual([]);
});

it('cached requests of all accounts are found alike, and what is rare where all counters count it', async () => {
  expect(await listed({ isCached: true })).toEqual([rare[2]]);
  expect(await findMatchingHours(database, { isCached: true, status: [200, 299] }, 1, undefined)).toEqual([
    today + hour,
  ]);
  expect(await findMatchingHours(database, { isCached: true, errors: true }, 3, undefined)).toEqual([]);
  expect(await findMatchingHours(database, { isCached: true, model: 'gpt-6-sol' }, 3, undefined)).toEqual([]);
});

it('hours are not asked for what an index has: all requests, a status, or one of the properties of an account', async () => {
  for (const filter of [
    {},
    { status: [404, 404] },
    { accountId: 'any', model: 'rare' },
    { accountId: 'any', errors: true },
  ])
    expect(await findMatchingHours(database, filter as RequestFilter, 3, undefined)).toBeUndefined();
});

it('records of a deleted account are found without usage of its own', async () => {
  const book = new RecordBook(database);
  const [id] = await book.write({ started_at: today, model: 'rare', cache: 'hit' });
  await removeUsage(database, book.accountId);
  expect(await listed({ accountId: book.accountId, model: 'rare', isCached: true })).toEqual([id]);
});

it('records that are kept for longer than their usage are found without it', async () => {
  await using own = await createTestDatabase();
  const [id] = await new RecordBook(own).write({ started_at: Date.now() - 500 * day, model: 'rare' });
  await foldUsage(own);
  await removeOldUsage(own, 400);
  expect((await listRequests(own, { model: 'rare' })).records).toMatchObject([{ id }]);
  expect((await listRequests(own, { model: 'rare', since: Date.now() - 100 * day })).records).toEqual([]);
});
