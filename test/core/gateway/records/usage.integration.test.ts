import type { Migration } from '@mikro-orm/migrations';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { foldUsage, removeOldUsage, removeUsage } from '#core/gateway/records/fold-usage.ts';
import { quantile, sumRequests } from '#core/gateway/records/latency-histogram.ts';
import { readRouteUsage } from '#core/gateway/records/route-usage.ts';
import { countUsage, listUsedModels, readUsage, type UsageBy, usageReach } from '#core/gateway/records/usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { Migration20261122000005_usage as UsageMigration } from '../../../../migrations/Migration20261122000005_usage.ts';
import { Migration20261122000007_usage_account as AccountMigration } from '../../../../migrations/Migration20261122000007_usage_account.ts';
import { Migration20261126000030_streaming_speed as SpeedMigration } from '../../../../migrations/Migration20261126000030_streaming_speed.ts';
import { Migration20261126000040_policy_refusals as PolicyMigration } from '../../../../migrations/Migration20261126000040_policy_refusals.ts';
import { Migration20261126000080_usage_of_cost as CostMigration } from '../../../../migrations/Migration20261126000080_usage_of_cost.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { FaultyTables } from './faulty-tables.ts';
import { day, hour, RecordBook, today } from './record-fixture.ts';
import { countRecords, readAll } from './usage-fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const groups: readonly (readonly Exclude<UsageBy, 'client'>[])[] = [
  [],
  ['hour'],
  ['account'],
  ['model'],
  ['route'],
  ['account', 'hour'],
  ['account', 'model', 'hour'],
];

/** Usage says the same as a count over all records. */
async function expectExact(own: Database): Promise<void> {
  const records = await readAll(own);
  for (const by of groups) {
    const usage = await readUsage(own, { since: 0 }, by);
    expect(usage.map(({ firstContent, ...counts }) => ({ ...counts, timed: sumRequests(firstContent) }))).toEqual(
      countRecords(records, by),
    );
    expect(usage).toMatchObject(await countUsage(own, { since: 0 }, by));
  }
  const calls = records.filter(({ account_id, model }) => account_id !== null && model !== null);
  for (const by of [['client'], ['client', 'model', 'route', 'hour']] as const) {
    const timed = (await countUsage(own, { since: 0 }, by)).map((counts) => ({ ...counts, timed: expect.any(Number) }));
    expect(countRecords(calls, by)).toEqual(timed);
  }
  const models = new Set(records.map(({ alias_of, model }) => alias_of ?? model).filter((model) => model !== null));
  expect(new Set(await listUsedModels(own, { since: 0 }))).toEqual(models);
  for (const account of new Set(records.map(({ account_id }) => account_id))) {
    if (account === null) continue;
    const used = records.filter(({ account_id }) => account_id === account);
    expect(new Set(await listUsedModels(own, { accountId: account, since: 0 }))).toEqual(
      new Set(used.map(({ alias_of, model }) => alias_of ?? model).filter((model) => model !== null)),
    );
  }
  const attempts = records.flatMap((record) => record.attempts ?? []);
  const routes = await readRouteUsage(own, { since: 0 });
  expect(Object.fromEntries(routes.map(({ route, attempts: count, served }) => [route, [count, served]]))).toEqual(
    Object.fromEntries(
      [...Map.groupBy(attempts, ({ route }) => route as string)].map(([route, some]) => [
        route,
        [some.length, some.filter(({ outcome }) => outcome === 'served').length],
      ]),
    ),
  );
}

const attempt = fc.record({
  route: fc.constantFrom('a/x', 'b/x'),
  outcome: fc.constantFrom('served' as const, 'failed' as const, 'aborted' as const),
  fault: fc.option(fc.constantFrom('route' as const, 'client' as const), { nil: null }),
  started_ms: fc.nat(100),
  duration_ms: fc.nat(100),
});
const record = fc.record({
  started_at: fc.integer({ min: today - 2 * hour, max: today + hour }),
  account: fc.constantFrom(0, 1, 2),
  model: fc.constantFrom('dp/a', 'dp/b', 'other', null),
  alias_of: fc.constantFrom('dp/a', null, null),
  route: fc.constantFrom('a/x', 'b/x', null),
  user_agent: fc.constantFrom('codex_exec/0.171.0 (Linux)', 'OpenAI/JS 7.5', 'curl', 'ani@example.com', '', null),
  outcome: fc.constantFrom('answered', 'answered', 'refused', 'failed', 'aborted', 'interrupted') as fc.Arbitrary<
    RequestRecord['outcome']
  >,
  has_failover: fc.constantFrom(true, false, null),
  cache: fc.constantFrom('hit' as const, 'miss' as const, null),
  first_content_ms: fc.option(fc.integer({ min: 0, max: 10_000_000 })),
  input_tokens: fc.option(fc.nat(2_147_483_647)),
  output_tokens: fc.option(fc.nat(1_000)),
  cache_read_tokens: fc.option(fc.nat(2_147_483_647)),
  cache_write_tokens: fc.option(fc.nat(1_000)),
  images: fc.option(fc.nat(10)),
  attempts: fc.option(fc.array(attempt, { maxLength: 3 })),
});
type Step =
  | { readonly kind: 'insert'; readonly records: readonly (typeof record extends fc.Arbitrary<infer R> ? R : never)[] }
  | { readonly kind: 'replay' | 'fold' }
  | { readonly kind: 'fault'; readonly table: string };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('insert' as const),
      records: fc.array(record, { minLength: 1, maxLength: 12 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('replay' as const, 'fold' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('fault' as const), table: fc.constantFrom(...FaultyTables.names) }),
  },
);

function unlessBroken(error: unknown): void {
  expect(String(error)).toContain('broken on purpose');
}

describe('usage', () => {
  it('equals a count over the records after any batches, replays, folds and failures of two instances', async () => {
    // Of its own: other tests remove the usage of an account whose records stay.
    await using own = await createTestDatabase();
    const faulty = await FaultyTables.install(own);
    const accounts = [new RecordBook(own).accountId, new RecordBook(own).accountId, null];
    /** Every batch twice, since an instance may not know that the database has it. */
    const batches: Partial<RequestRecord>[][] = [];
    const run = async (steps: readonly Step[]): Promise<void> => {
      const book = new RecordBook(own);
      for (const one of steps) {
        if (one.kind === 'fold') await foldUsage(own);
        if (one.kind === 'fault') await faulty.break(one.table);
        if (one.kind === 'replay') for (const batch of batches.slice(-3)) await book.write(...batch);
        if (one.kind !== 'insert') continue;
        const batch = one.records.map(({ account, ...more }, index) => ({
          ...more,
          account_id: accounts[account] ?? null,
          id: `req_${book.accountId}_${batches.length}_${index}`,
        }));
        batches.push(batch);
        await book.write(...batch);
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), fc.array(step, { maxLength: 6 }), async (one, other) => {
        await Promise.all([run(one).catch(unlessBroken), run(other).catch(unlessBroken)]);
        await expectExact(own);
        await faulty.repair();
        await foldUsage(own);
        await expectExact(own);
      }),
      { numRuns: 25 },
    );
  }, 60_000);
});

describe('usage of an account', () => {
  it('has no request of another account, model or route, and no other hour', async () => {
    const book = new RecordBook(database);
    const matching = { started_at: today + hour, model: 'dp/a', route: 'a/x' };
    await new RecordBook(database).write(matching);
    await book.write(
      matching,
      { ...matching, model: 'short', alias_of: 'dp/a' },
      { ...matching, model: 'dp/b' },
      { ...matching, route: 'a/y' },
      { ...matching, started_at: today + hour - 1 },
      { ...matching, started_at: today + 2 * hour },
    );
    const { accountId } = book;
    const filter = { accountId, model: 'dp/a', route: 'a/x', since: today + hour + 1, until: today + 2 * hour };
    expect(await readUsage(database, filter, ['model'])).toMatchObject([{ model: 'dp/a', requests: 2 }]);
    await foldUsage(database);
    expect(await readUsage(database, filter, ['model'])).toMatchObject([{ model: 'dp/a', requests: 2 }]);
  });

  it('is empty for names that no record has', async () => {
    for (const filter of [{ accountId: "' OR true" }, { model: '\0' }, { route: '\0' }])
      expect(await readUsage(database, { since: 0, ...filter }, ['model'])).toEqual([]);
  });

  it('goes with the account, folded or not, and stays in the counts over all', async () => {
    const book = new RecordBook(database);
    const filter = { since: today + 40 * day, until: today + 41 * day };
    await book.write({ started_at: filter.since });
    await foldUsage(database);
    await book.write({ started_at: filter.since });
    await removeUsage(database, book.accountId);
    expect(await readUsage(database, { ...filter, accountId: book.accountId }, [])).toMatchObject([{ requests: 0 }]);
    expect(await readUsage(database, filter, [])).toMatchObject([{ requests: 2 }]);
  });
});

describe('time to the first content', () => {
  it('is known within 5 % for any share of the requests', async () => {
    const book = new RecordBook(database);
    const times = [10, 11, 14, 250, 251, 999, 4_000, 61_000, 3_600_000];
    await book.write(...times.map((time) => ({ first_content_ms: time })));
    const [usage] = await readUsage(database, { since: today, accountId: book.accountId }, []);
    for (const [index, time] of times.entries()) {
      const found = quantile(usage?.firstContent ?? [], (index + 0.5) / times.length);
      expect((found ?? 0) / time).toBeGreaterThan(0.95);
      expect((found ?? 0) / time).toBeLessThan(1.05);
    }
  });
});

describe('usage of routes', () => {
  it('separates faults of the route from client errors, with the message of the last one', async () => {
    const route = 'only/here';
    const failed = { route, outcome: 'failed' as const, started_ms: 5, duration_ms: 10 };
    const at = today + 50 * day;
    await new RecordBook(database).write(
      { started_at: at + 1, attempts: [{ ...failed, fault: 'throttled', error: 'HTTP 429' }] },
      {
        started_at: at,
        attempts: [
          { ...failed, fault: 'route', error: 'HTTP 500' },
          { route, outcome: 'served' },
        ],
      },
    );
    await foldUsage(database);
    await new RecordBook(database).write({
      started_at: at + 2,
      attempts: [{ ...failed, fault: 'client', error: 'no' }],
    });
    expect(await readRouteUsage(database, { since: at, until: at + 1 })).toEqual([
      {
        route,
        attempts: 4,
        served: 1,
        failed: 2,
        faults: { throttled: 1, route: 1, client: 1 },
        lastServedAt: at,
        lastFault: { fault: 'throttled', at: at + 16, error: 'HTTP 429' },
      },
    ]);
  });
});

describe('the reach of usage', () => {
  it('begins with the hour of the first request, and with the days that are kept', async () => {
    await using own = await createTestDatabase();
    expect((await usageReach(own)).since).toBeUndefined();
    const now = Date.now();
    const [old, kept] = [now - 401 * day, now - 399 * day];
    await new RecordBook(own).write({ started_at: old }, { started_at: kept });
    expect((await usageReach(own)).since).toBe(old - (old % hour));
    await foldUsage(own);
    await removeOldUsage(own, 400);
    expect((await usageReach(own)).since).toBe(kept - (kept % hour));
  });
});

describe('records from before', () => {
  it('are counted by the migration', async () => {
    await using own = await createTestDatabase();
    const book = new RecordBook(own);
    await book.write(
      { first_content_ms: 100, attempts: [{ route: 'a/b', outcome: 'served' }] },
      { outcome: 'failed', model: null },
    );
    await redo(own, UsageMigration, SpeedMigration, PolicyMigration, CostMigration);
    const usage = await readUsage(own, { since: 0 }, ['account', 'model', 'hour']);
    expect(usage.map(({ firstContent, ...counts }) => ({ ...counts, timed: sumRequests(firstContent) }))).toEqual(
      countRecords(await readAll(own), ['account', 'model', 'hour']),
    );
    expect(await readRouteUsage(own, { since: 0 })).toMatchObject([{ route: 'a/b', served: 1 }]);
  });
});

describe('usage from before usage by account alone', () => {
  it('is added up by the migration', async () => {
    await using own = await createTestDatabase();
    const { accountId } = new RecordBook(own);
    const before = { account_id: accountId, first_content_ms: 100 };
    await new RecordBook(own).write({ ...before, model: 'a' }, { ...before, model: 'b' }, { account_id: null });
    await foldUsage(own);
    const expected = await readUsage(own, { since: 0 }, ['account', 'hour']);
    expect(expected).toMatchObject([
      { account: accountId, requests: 2 },
      { account: null, requests: 1 },
    ]);
    await redo(own, AccountMigration, SpeedMigration, PolicyMigration, CostMigration);
    expect(await readUsage(own, { since: 0 }, ['account', 'hour'])).toEqual(expected);
  });
});

/** Reverts migrations, the newest first, and applies them again. */
async function redo(own: Database, ...classes: readonly (new (...parts: never[]) => Migration)[]): Promise<void> {
  const migrations = classes.map((Class) => new Class(undefined as never, undefined as never));
  const statements = [
    ...migrations.toReversed().flatMap((migration) => statementsOf(migration, 'down')),
    ...migrations.flatMap((migration) => statementsOf(migration, 'up')),
  ];
  for (const sql of statements) await own.query(sql);
}

function statementsOf(migration: Migration, direction: 'up' | 'down'): string[] {
  migration.reset();
  migration[direction]();
  return migration.getQueries().map(String);
}
