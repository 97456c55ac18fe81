import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import type { Canary } from '../../../plugins/canary/record/canaries.ts';
import { AccountCounter } from '../../../plugins/canary/run/count-accounts.ts';
import { servesAccount } from '../../../plugins/canary/run/share.ts';
import { createTestDatabase } from '../../support/database.ts';

const begin = Date.UTC(2026, 10, 20, 9);
const minute = 60_000;
const canary = {
  id: 7,
  salt: 'salt',
  share: 0.5,
  startedAt: new Date(begin),
  until: new Date(begin + 10 * minute),
} as Canary;

let database: Database;
let scanned: [from: number, to: number][];
let counter: AccountCounter;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.query('create table request_log_all partition of request_log default');
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.query('delete from request_log');
  scanned = [];
  const query: Database['query'] = (sql, parameters = []) => {
    const [, from, to] = parameters as [number, number, number];
    scanned.push([from - begin, to - begin]);
    return database.query(sql, parameters);
  };
  counter = new AccountCounter({ query }, canary);
});

const idOf = (isCanary: boolean) => {
  for (;;) {
    const id = randomUUID();
    if (servesAccount(canary, id) === isCanary) return id;
  }
};
const [inside, outside] = [idOf(true), idOf(false)];

const write = (accountId: string, at: number, more: { outcome?: string; canary?: number; firstToken?: number } = {}) =>
  database.query(
    `insert into request_log (id, started_at, instance, account_id, endpoint, method, path, outcome, is_metered, canary, first_content_ms)
     values (?, to_timestamp(?::float8 / 1000), 'one', ?, 'chat', 'POST', '/v1/chat/completions', ?, true, ?, ?)`,
    [randomUUID(), begin + at, accountId, more.outcome ?? 'answered', more.canary ?? null, more.firstToken ?? null],
  );

const counted = async (accounts: ReturnType<AccountCounter['countRecent']>) =>
  (await accounts).map(({ isCanary, requests, failures, before }) => [isCanary, requests, failures, before.requests]);

it('both sides are counted from the start of the canary, and compared with their requests before it', async () => {
  await write(inside, -minute);
  await write(inside, minute, { canary: 7, outcome: 'failed' });
  await write(outside, minute, { firstToken: 100 });
  await write(outside, 2 * minute, { firstToken: 100 });
  // An instance had not begun it yet.
  await write(inside, 0);
  const accounts = await counter.countRecent(begin + 3 * minute);
  expect(await counted(Promise.resolve(accounts))).toEqual(
    expect.arrayContaining([
      [true, 1, 1, 1],
      [false, 2, 0, 0],
    ]),
  );
  expect(accounts).toHaveLength(2);
  expect(accounts.find(({ isCanary }) => !isCanary)?.logSum).toBeCloseTo(2 * Math.log(100));
});

it('requests that are older than five minutes are read once, and add up with the newer ones', async () => {
  for (let at = 0; at < 60; at++) await write(outside, at * minute, { outcome: at % 10 === 0 ? 'failed' : 'answered' });
  expect(await counted(counter.countRecent(begin + 30 * minute))).toEqual([[false, 60, 6, 0]]);
  scanned = [];
  expect(await counted(counter.countRecent(begin + 40 * minute))).toEqual([[false, 60, 6, 0]]);
  expect(scanned.map(([from]) => from / minute)).toEqual([25, 35]);
});

it('a request that comes on record late is counted with all of them', async () => {
  await write(outside, 0);
  await counter.countRecent(begin + 30 * minute);
  await write(outside, minute);
  expect(await counted(counter.countRecent(begin + 30 * minute))).toEqual([[false, 1, 0, 0]]);
  expect(await counted(counter.countAll(begin + 30 * minute))).toEqual([[false, 2, 0, 0]]);
  expect(await counted(counter.countRecent(begin + 31 * minute))).toEqual([[false, 2, 0, 0]]);
});
