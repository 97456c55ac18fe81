import { afterAll, beforeAll, expect, it } from 'vitest';
import { clockOf } from '../payments/sequences.ts';
import { createBareDatabase, dropDatabase } from '../support/database.ts';
import { execute } from '../support/global-postgres.ts';
import { compareAll } from './compare.ts';
import { shareOfDays } from './conversations.ts';
import { describeDay } from './figures.ts';
import { Month } from './play.ts';

// `npm run month` plays a whole one.
const size = { accounts: 40, days: 3, seed: 7 };
const patience = 480_000;

let url: string;
let month: Month;
const lines: string[] = [];
beforeAll(async () => {
  url = await createBareDatabase();
  await execute(url, clockOf(new URL(url).pathname.slice(1)));
  month = await Month.open(url, size);
  await month.play(async () => void lines.push(await describeDay(month)));
}, patience);
afterAll(async () => {
  await month.world[Symbol.asyncDispose]();
  await dropDatabase(url);
});

const differing = async () => (await compareAll(month)).filter(({ differences }) => differences.length > 0);

it('three days of a shop equal their model: days, books, places, credits, margins, events', async () => {
  expect(month.differences).toEqual([]);
  expect(await differing()).toEqual([]);
  const { model, counts, weakDays } = month;
  const gifts = model.sold.filter(({ order }) => order.gift !== undefined);
  expect([gifts.length, model.refused, model.credits.length, counts.accessChecks].every((count) => count > 0)).toBe(
    true,
  );
  expect(weakDays).toContain(true);
  expect(model.refundsRead.later).toBeGreaterThan(0);
  expect(month.canaryEnd?.outcome).toBe('worse');
  expect(model.alerts.length).toBeGreaterThan(2);
});

it('conversations keep the cached share of a healthy vendor, and a forced change costs one cold turn', () => {
  const { talked } = month.world.vendors;
  const kept = shareOfDays(talked.filter(({ model }) => model === 'kept'));
  expect(kept.direct).toBeGreaterThan(0.85);
  expect(kept.through).toBeGreaterThan(kept.direct - 0.02);
  for (const changed of ['closing', 'drying', 'ending']) {
    const days = talked.filter(({ model }) => model === changed);
    const moves = days.reduce((sum, one) => sum + one.moves, 0);
    expect([changed, moves > 0, days.reduce((sum, one) => sum + one.coldTurns, 0)]).toEqual([changed, true, moves]);
  }
  expect(talked.filter(({ asked, served }) => served < asked)).toEqual([]);
  const lost = month.world.alerts.filter(({ type }) => type === 'cached_input.fell');
  expect(lost).toHaveLength(size.days - month.world.vendors.forgetsFrom);
});

it('PostgreSQL plans with statistics of the shop as it grows, not of a handful of rows', async () => {
  const { database } = month.world.host;
  const tables = ['account', 'plan_order', 'plan_period', 'request_log_month', 'voucher'];
  const rows = await database.query<{ tablename: string }>(
    'select distinct tablename::text from pg_stats where tablename in (?)',
    [tables],
  );
  expect(rows.map(({ tablename }) => tablename).toSorted()).toEqual(tables);
});

it('alerts about vendors come before customers notice, and the line of a day has its figures', async () => {
  expect(month.world.vendors.notices(month.world.alerts).map(({ isInTime }) => isInTime)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(lines).toHaveLength(size.days);
  expect(lines.at(-1)).toMatch(
    /^\d+ events, [1-9]\d* orders .* 9\d\.\d % cached, direct 9\d\.\d %.* 0 in the books, 0 gaps$/,
  );
});

it('a microsecond, a rupiah, a lost event or alert, and a bad change that serves everybody are found', async () => {
  const { database } = month.world.host;
  await database.query(
    `insert into plan_period (id, replaces, reason, starts_at, ends_at, account_id, days, order_id)
     select gen_random_uuid(), id, 'shift', starts_at, ends_at + interval '1 microsecond', account_id, days, order_id from plan_period p
     where ends_at > clock_timestamp() and not exists (select 1 from plan_period r where r.replaces = p.id) limit 1`,
  );
  await database.query('update payment set amount = amount + 1 where id = (select id from payment limit 1)');
  await database.query(
    `delete from account_event where id = (select id from account_event where name = 'order.paid' limit 1)`,
  );
  month.world.alerts.pop();
  await database.query('update configuration_canary set outcome = ?', ['full']);
  const found = await differing();
  const names = found.map(({ name }) => name);
  for (const name of [
    'periods, µs',
    'books by day, rupiah',
    'lines of the export',
    'events by name, as mails and webhooks get them',
    "alerts to the operator's webhook",
    'the canary',
    "days against the bank's books",
  ])
    expect(names).toContain(name);
});
