import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { models } from '#core/config/sections/models-section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { foldUsage, removeUsage } from '#core/gateway/records/fold-usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { formatDecimal } from '../../../plugins/margins/exact-money.ts';
import { exchangeRatesSection } from '../../../plugins/margins/exchange-rates.ts';
import { groupMargins, type Margins, readMargins } from '../../../plugins/margins/margins.ts';
import { day, hour, RecordBook, today } from '../../core/gateway/records/record-fixture.ts';
import { readAll } from '../../core/gateway/records/usage-fixture.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** Tokens of `a` in dollars, `b` flat, `a/y` of the model `two` at a price of its own, both with tax on top, `c` not declared. */
const values = new Map<unknown, unknown>([
  [service, { prefix: 'dp', time_zone: 'Asia/Jakarta' }],
  [currencySection, 'IDR'],
  [exchangeRatesSection, { USD: 16_400.5 }],
  [
    upstreams,
    {
      a: { cost: { currency: 'USD', input: 0.075, cached: 0.0075, cache_write: 0.09375, output: 0.3, image: 0.04 } },
      b: { cost: { monthly: 1_000_000, tax: 11 } },
      c: {},
    },
  ],
  [
    models,
    {
      one: { routes: ['a/x', 'b/x', 'c/x'] },
      two: { routes: [{ to: 'a/y', cost: { input: 7, output: 11, tax: 12.25 } }] },
    },
  ],
]);
const hostOf = (own: Database): Pick<Host, 'database' | 'section'> => ({
  database: own,
  section: ((section: unknown) => values.get(section)) as Host['section'],
});

interface Sold {
  readonly accountId: string;
  readonly days: number;
  readonly price: number;
  readonly from: number;
  readonly until: number;
  readonly refunded?: number;
}

/** An order with its payment, its period and what was paid back, as they are after a sale. */
async function sell(own: Database, { accountId, days, price, from, until, refunded }: Sold): Promise<void> {
  const [order, payment] = [randomUUID(), randomUUID()];
  const at = new Date(from).toISOString();
  await own.query(
    `insert into plan_order (id, code, account_id, days, price, currency, provider, state, created_at, expires_at, paid_at)
     values (?, ?, ?, ?, ?, 'IDR', 'test', 'paid', ?, ?, ?)`,
    [order, order, accountId, days, price, at, at, at],
  );
  await own.query(
    `insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at)
     values (?, ?, 1, 'test', ?, 'IDR', ?)`,
    [order, order, price, at],
  );
  await own.query(
    `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
     values (?, ?, ?, 'test', ?, ?, 'IDR', ?, 'activated', '{}')`,
    [payment, order, order, payment, price, at],
  );
  if (until > from)
    await own.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, order_id) values (?, ?, ?, ?, ?, 'order', ?)`,
      [randomUUID(), accountId, at, new Date(until).toISOString(), days, order],
    );
  if (refunded !== undefined)
    await own.query(
      `insert into refund (key, order_id, payment_id, amount, currency, state, reason, finished_at)
       values (?, ?, ?, ?, 'IDR', 'done', 'test', ?)`,
      [randomUUID(), order, payment, refunded, at],
    );
}

async function createBuyer(own: Database): Promise<string> {
  return (await createAccount(own, 'dp', { name: 'Ani' })).accountId;
}

/** Flat costs are apart: they belong to time. In 10^-28 rupiah, by another way than the product's: a record at a time. */
function costOfRecord({ alias_of, model, route, ...tokens }: RequestRecord): bigint {
  const [read, write] = [tokens.cache_read_tokens ?? 0, tokens.cache_write_tokens ?? 0];
  const input = (tokens.input_tokens ?? 0) - read - write;
  const output = tokens.output_tokens ?? 0;
  const million = 10n ** 22n; // of a price of one per million tokens
  if (route === 'a/y' && (alias_of ?? model) === 'dp/two')
    return (BigInt(input + read + write) * 7n + BigInt(output) * 11n) * 11_225n * (million / 10_000n);
  if (route?.startsWith('a/') !== true) return 0n;
  const dollars =
    BigInt(input) * 75_000n +
    BigInt(read) * 7_500n +
    BigInt(write) * 93_750n +
    BigInt(output) * 300_000n +
    BigInt(tokens.images ?? 0) * 40_000n * 1_000_000n;
  return dollars * 164_005n * 10n ** 15n; // millionths of a dollar per million tokens, at 16,400.5
}

const total = (some: readonly { readonly cost: bigint; readonly earned: bigint }[], name: 'cost' | 'earned') =>
  some.reduce((sum, one) => sum + one[name], 0n);

const record = fc.record({
  started_at: fc.integer({ min: today - 2 * day, max: today + 2 * day }),
  account: fc.constantFrom(0, 1, 2, 3),
  model: fc.constantFrom('dp/one', 'dp/two', 'short', null),
  alias_of: fc.constantFrom('dp/two', null),
  route: fc.constantFrom('a/x', 'a/y', 'b/x', 'c/x', 'gone/x', null),
  outcome: fc.constantFrom('answered', 'answered', 'failed', 'aborted') as fc.Arbitrary<RequestRecord['outcome']>,
  input_tokens: fc.option(fc.nat(2_000_000_000)),
  cache_read_tokens: fc.option(fc.nat(1_000_000)),
  cache_write_tokens: fc.option(fc.nat(1_000_000)),
  output_tokens: fc.option(fc.nat(100_000)),
  images: fc.option(fc.nat(4)),
});
const sale = fc.record({
  account: fc.constantFrom(0, 1),
  days: fc.constantFrom(1, 7),
  price: fc.integer({ min: 1, max: 100_000 }),
  hours: fc.integer({ min: 0, max: 60 }),
  pause: fc.integer({ min: 0, max: 40 }),
  isRefunded: fc.boolean(),
});

function expectSame({ lines, days }: Margins, records: readonly RequestRecord[], sold: readonly Sold[]): void {
  // Five of the 31 days of May.
  const flat = (1_110_000n * 10n ** 28n * 5n) / 31n;
  const cost = records.reduce((sum, one) => sum + costOfRecord(one), 0n);
  expect(total(lines, 'cost') - cost - flat).toBeLessThanOrEqual(10n);
  expect(total(lines, 'cost') - cost - flat).toBeGreaterThanOrEqual(-10n);
  expect(total(days, 'cost')).toBe(total(lines, 'cost'));
  expect(total(days, 'earned')).toBe(total(lines, 'earned'));
  for (const by of ['account', 'plan', 'model', 'route'] as const) {
    const groups = groupMargins(lines, by);
    expect(total(groups, 'cost')).toBe(total(lines, 'cost'));
    expect(total(groups, 'earned')).toBe(total(lines, 'earned'));
    expect(groups.reduce((sum, { counts }) => sum + counts.requests, 0)).toBe(records.length);
  }
  for (const { key, cost: found } of groupMargins(lines, 'route')) {
    if (key === null || key === 'b' || key.startsWith('b/')) continue;
    const own = records.filter(({ route }) => route === key);
    expect(formatDecimal(found)).toBe(formatDecimal(own.reduce((sum, one) => sum + costOfRecord(one), 0n)));
  }
  for (const { key, earned } of groupMargins(lines, 'plan')) {
    const orders = sold.filter((one) => String(one.days) === key);
    expect(Number(earned / 10n ** 22n) / 1e6).toBeCloseTo(
      orders.reduce((sum, one) => sum + earnedBy(one), 0),
      1,
    );
  }
}

function earnedBy({ price, from, until, refunded = 0 }: Sold): number {
  const [first, last] = [today - 2 * day, today + 3 * day];
  const kept = price - refunded;
  if (until === from) return from >= first && from < last ? kept : 0;
  return (kept * Math.max(0, Math.min(until, last) - Math.max(from, first))) / (until - from);
}

describe('margins', () => {
  it('cost and earn the same by account, plan, model, route and day, as a count over the records and orders does', async () => {
    await using own = await createTestDatabase();
    const removed = await createBuyer(own);
    const accounts = [await createBuyer(own), await createBuyer(own), removed, null];
    const ends = [today - 3 * day, today - 3 * day];
    const sold: Sold[] = [];
    const span = { from: today - 2 * day, until: today + 3 * day };
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 20 }),
        fc.array(sale, { maxLength: 3 }),
        fc.boolean(),
        async (batch, sales, isFolded) => {
          await new RecordBook(own).write(
            ...batch.map(({ account, ...more }) => ({ ...more, account_id: accounts[account] ?? null })),
          );
          for (const { account, days, price, hours, pause, isRefunded } of sales) {
            const accountId = accounts[account] as string;
            const from = (ends[account] ?? 0) + pause * 1_234_567;
            const until = from + hours * 2_345_678;
            ends[account] = until;
            const one = { accountId, days, price, from, until, ...(isRefunded && price > 1 && { refunded: 1 }) };
            sold.push(one);
            await sell(own, one);
          }
          if (isFolded) await foldUsage(own);
          await removeUsage(own, removed);
          const margins = await readMargins(hostOf(own), span);
          expectSame(margins, await readAll(own), sold);
        },
      ),
      { numRuns: 25 },
    );
  }, 60_000);

  it('counts an hour for the plan that had it first, and time without a plan for none', async () => {
    const accountId = await createBuyer(database);
    const at = today + 10 * day;
    await sell(database, { accountId, days: 1, price: 24_000, from: at, until: at + 90 * 60_000 });
    await sell(database, { accountId, days: 7, price: 70_000, from: at + 90 * 60_000, until: at + 3 * hour });
    const used = { account_id: accountId, model: 'dp/two', route: 'a/y', input_tokens: 1_000_000, output_tokens: 0 };
    await new RecordBook(database).write(
      { ...used, started_at: at + 80 * 60_000 },
      { ...used, started_at: at + 100 * 60_000 },
      { ...used, started_at: at + 2 * hour },
      { ...used, started_at: at + 4 * hour },
    );
    const { lines } = await readMargins(hostOf(database), { from: at, until: at + day });
    const own = groupMargins(
      lines.filter(({ account }) => account === accountId),
      'plan',
    );
    expect(own.map(({ key, cost, earned }) => [key, formatDecimal(cost), formatDecimal(earned)])).toEqual([
      ['1', '15.715', '24000'],
      ['7', '7.8575', '70000'],
      [null, '7.8575', '0'],
    ]);
  });

  it('divide a flat price by tokens, and show it alone for an unused route', async () => {
    const [from, until] = [Date.UTC(2031, 7, 31, 17), Date.UTC(2031, 8, 30, 17)]; // September in Jakarta
    const empty = await readMargins(hostOf(database), { from, until });
    expect(groupMargins(empty.lines, 'route')).toMatchObject([{ key: 'b', cost: 1_110_000n * 10n ** 28n }]);
    const used = { started_at: from + day, model: 'dp/one', route: 'b/x', output_tokens: 0 };
    const [one, other] = [new RecordBook(database), new RecordBook(database)];
    await one.write({ ...used, input_tokens: 300 });
    await other.write({ ...used, input_tokens: 100 });
    const { lines, unpriced } = await readMargins(hostOf(database), { from, until });
    expect(groupMargins(lines, 'account').map(({ key, cost }) => [key, formatDecimal(cost)])).toEqual([
      [one.accountId, '832500'],
      [other.accountId, '277500'],
    ]);
    expect(unpriced).toEqual([]);
  });

  it('divides a flat price by requests where nothing has tokens, as of images', async () => {
    const [from, until] = [Date.UTC(2031, 9, 31, 17), Date.UTC(2031, 10, 30, 17)]; // November in Jakarta
    const used = { started_at: from + day, model: 'dp/one', route: 'b/x', images: 1 };
    const [one, other] = [new RecordBook(database), new RecordBook(database)];
    await one.write(used, used);
    await other.write(used, { ...used, outcome: 'failed' }, { ...used, outcome: 'failed' });
    const { lines } = await readMargins(hostOf(database), { from, until });
    expect(groupMargins(lines, 'account').map(({ key, cost }) => [key, formatDecimal(cost)])).toEqual([
      [one.accountId, '740000'],
      [other.accountId, '370000'],
    ]);
  });

  it('have a line for what an account paid and did not use', async () => {
    const accountId = await createBuyer(database);
    const from = today + 80 * day;
    await sell(database, { accountId, days: 1, price: 24_000, from, until: from + day });
    const { lines } = await readMargins(hostOf(database), { from, until: from + day });
    const own = lines.filter(({ account }) => account === accountId);
    expect(own).toMatchObject([{ plan: '1', model: null, route: null, cost: 0n, earned: 24_000n * 10n ** 28n }]);
  });

  it('names routes without a declared cost', async () => {
    const at = today + 60 * day;
    await new RecordBook(database).write({ started_at: at, route: 'c/x', input_tokens: 5 });
    const { lines, unpriced } = await readMargins(hostOf(database), { from: at, until: at + hour });
    expect(unpriced).toEqual(['c/x']);
    expect(groupMargins(lines, 'route').find(({ key }) => key === 'c/x')?.cost).toBe(0n);
  });
});
