import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import { foldUsage } from '#core/gateway/records/fold-usage.ts';
import { maxClientNames, countUsage } from '#core/gateway/records/usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { readFallenShares } from '../../../plugins/cached-input/fallen-shares.ts';
import { cachedInputReading } from '../../../plugins/cached-input/reading.ts';
import { hour, RecordBook, today } from '../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Database & AsyncDisposable;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const noon = today + 12 * hour;

/** Calls of one hour: 220 with 10,000 tokens each. */
function calls(at: number, share: number, route = 'a/x', user_agent = 'codex_exec/0.171.0') {
  const [input_tokens, cache_read_tokens] = [10_000, Math.round(10_000 * share)];
  return Array.from({ length: 220 }, () => ({
    started_at: at,
    route,
    user_agent,
    input_tokens,
    cache_read_tokens,
    cache_write_tokens: 500,
  }));
}

it('a share that falls from the week to the day is found in the usage of both, folded or not', async () => {
  const book = new RecordBook(database);
  await book.write(...calls(noon - 30 * hour, 0.9), ...calls(noon - 30 * hour, 0.9, 'b/x'));
  await book.write(...calls(noon - 23 * hour, 0.2), ...calls(noon, 0.8, 'b/x'));
  const fallen = [{ of: 'route', name: 'a/x', before: 0.9, now: 0.2, lostTokens: 1_540_000 }];
  expect(await readFallenShares(database, noon)).toEqual(fallen);
  await foldUsage(database);
  expect(await readFallenShares(database, noon)).toEqual(fallen);
  // Seven hours later, the hour of the fall is in the week before, and the day has none of the route.
  expect(await readFallenShares(database, noon + 7 * hour)).toEqual([]);
});

it('operators read the shares by route, model, client and account', async () => {
  const host = { database: { records: database }, now: () => noon } as unknown as Host;
  const read = async (by: string) =>
    (await cachedInputReading.read(host, '', new URLSearchParams({ by }))) as { cachedInput: object[] };
  expect((await read('route')).cachedInput).toMatchObject([
    { route: 'a/x', requests: 220, inputTokens: 2_200_000, cachedInputShare: 0.2, writtenInputShare: 0.05 },
    { route: 'b/x', cachedInputShare: 0.8 },
  ]);
  expect((await read('client')).cachedInput).toMatchObject([{ client: 'codex_exec', cachedInputShare: 0.5 }]);
  expect((await read('model')).cachedInput).toMatchObject([{ model: 'gpt-6-sol', cachedInputShare: 0.5 }]);
  expect((await read('account')).cachedInput).toHaveLength(1);
});

it('clients that make up names have a hundred in an hour, and the rest is counted as other', async () => {
  const at = today + 40 * hour;
  const named = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => ({ started_at: at, user_agent: `made-up-${from + index}/1` }));
  const book = new RecordBook(database);
  await book.write(...named(90));
  await foldUsage(database);
  await book.write(...named(300), ...named(5, 298));
  await foldUsage(database);
  await book.write(...named(50, 400));
  await foldUsage(database);
  const counted = await countUsage(database, { since: at }, ['client']);
  expect(counted.length).toBeLessThanOrEqual(maxClientNames + 1);
  expect(counted.reduce((sum, { requests }) => sum + requests, 0)).toBe(445);
  expect(counted.find(({ client }) => client === 'made-up-3')?.requests).toBe(2);
  expect(counted.find(({ client }) => client === 'other')?.requests).toBeGreaterThan(200);
});
