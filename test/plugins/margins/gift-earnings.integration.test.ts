import { afterAll, beforeAll, expect, it } from 'vitest';
import { endOrderPeriod, extendPeriod } from '#core/business/accounts/ledger.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { readGiftCode } from '#core/business/payments/gifts.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Database } from '#core/platform/database/database.ts';
import { computeEarned, readEarnings } from '../../../plugins/margins/earnings.ts';
import { formatDecimal } from '../../../plugins/margins/exact-money.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { createBuyer, createPaymentHost, referenceOf } from '../../core/business/payments/fixture.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { redeemCode } from '../../support/redeem-code.ts';
import { tablesHere } from '../../support/registered.ts';

const week = 7 * 86_400_000; // ms

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase(silentLog, await tablesHere());
});
afterAll(() => database[Symbol.asyncDispose]());

const read = async ({ id }: Order) => (await readOrder(database, { id })) as Order;

it('the money of a gift is earned while it is used, by who uses it; of one that expires, at that moment', async () => {
  const fake = new FakeProvider();
  const host = createPaymentHost(database, [fake.provider], { payments: { gifts: true } });
  const [buyer, friend] = [await createBuyer(database), await createBuyer(database)];
  const give = async () => {
    const order = await startOrder(host, buyer, 7, { isGift: true });
    fake.pay(referenceOf(order));
    await settle(host, 'fake', fake.evidence(referenceOf(order)));
    return read(order);
  };
  const [used, unused] = [await give(), await give()];
  const now = Date.now();
  const span = { from: now - 3_600_000, until: now + 100 * 86_400_000 };
  const earned = async (accountId: string, within = span) =>
    (await readEarnings(database, 'IDR', within))
      .filter(({ account }) => account === accountId)
      .map((one) => Number(formatDecimal(computeEarned(one, within))));
  expect(await earned(buyer)).toEqual([]);
  await redeemCode(database, friend, (await readGiftCode(database, used))?.written ?? '');
  expect([await earned(buyer), await earned(friend)]).toEqual([[], [95_000]]);
  const period = (await read(used)).gift?.period;
  const half = { from: span.from, until: (period?.startsAt.getTime() ?? 0) + week / 2 };
  expect(await earned(friend, half)).toEqual([47_500]);
  const tomorrow = `clock_timestamp() + interval '1 day'`;
  await database.query(`update voucher set expires_at = ${tomorrow} where order_id = ?`, [unused.id]);
  expect(await earned(buyer)).toEqual([95_000]);
  expect(await earned(buyer, { from: span.from, until: now + 3_600_000 })).toEqual([]);
});

it('time that is given back after the end of a bought pass earns nothing, is none of the order, and ends with its refund', async () => {
  const fake = new FakeProvider();
  const host = createPaymentHost(database, [fake.provider]);
  const buyer = await createBuyer(database);
  const order = await startOrder(host, buyer, 7);
  fake.pay(referenceOf(order));
  await settle(host, 'fake', fake.evidence(referenceOf(order)));
  await database.query(
    `insert into plan_period (id, replaces, account_id, reason, starts_at, ends_at, days, order_id)
     select gen_random_uuid(), id, account_id, 'shift', starts_at - interval '8 days', ends_at - interval '8 days', days, order_id
     from plan_period where order_id = ?`,
    [order.id],
  );
  const now = Date.now();
  const span = { from: now - 100 * 86_400_000, until: now + 86_400_000 };
  const [before] = await readEarnings(database, 'IDR', span).then((all) => all.filter((one) => one.account === buyer));
  const { period } = await read(order);
  const held = () =>
    database.query(
      `select from plan_period where account_id = ? and ends_at > clock_timestamp() and starts_at < clock_timestamp()
      and id not in (select replaces from plan_period where replaces is not null)`,
      [buyer],
    );
  await database.fork().transactional((transaction) => extendPeriod(transaction, buyer, 600, 'outage'));
  expect(await held()).toHaveLength(1);
  expect((await readEarnings(database, 'IDR', span)).filter(({ account }) => account === buyer)).toEqual([before]);
  expect((await read(order)).period).toEqual(period);
  await database.fork().transactional((transaction) => endOrderPeriod(transaction, buyer, order.id));
  expect(await held()).toEqual([]);
  expect((await read(order)).period).toEqual(period);
});
