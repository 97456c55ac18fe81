import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { countPasses } from '#core/business/accounts/pass-counts.ts';
import { listActions, recordAction } from '#core/business/operator-actions/operator-actions.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { findOpenFlag, flagOrder, listOpenFlags } from '#core/business/payments/flags.ts';
import { resolveFlag } from '#core/business/payments/flags.ts';
import { listOrders, type Order } from '#core/business/payments/order.ts';
import { refundOrder } from '#core/business/payments/refunds.ts';
import { readAccountRevenue, readRevenue } from '#core/business/payments/revenue.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { readOrderDetails } from '#core/web/resources/order-parts.ts';
import { clearDatabase, createTestDatabase } from '../../../support/database.ts';
import { FakeProvider } from './fake-provider.ts';
import { createBuyer, createPaymentHost, referenceOf } from './fixture.ts';

let database: Database;
let fake: FakeProvider;
let host: Host;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await clearDatabase(database);
  fake = new FakeProvider();
  host = createPaymentHost(database, [fake.provider]);
});

async function buy(amount?: number): Promise<Order> {
  const order = await startOrder(host, await createBuyer(database), 7);
  fake.pay(referenceOf(order), amount === undefined ? undefined : { amount, currency: 'IDR' });
  await settle(host, 'fake', fake.evidence(referenceOf(order)));
  return order;
}

/** A zone in which it is about noon: no day ends while a test runs. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  // East of Greenwich is negative in these names.
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

describe('what the operator reads of orders', () => {
  it('are the newest notifications of an order, oldest first, with the number of earlier ones', async () => {
    const order = await startOrder(host, await createBuyer(database), 7);
    await database.query(
      `insert into payment_notification (provider, event_key, reference, body, received_at)
       select 'fake', n::text, ?, '{}', timestamptz '2026-11-30T00:00:00Z' + make_interval(secs => n)
       from generate_series(1, 150) n`,
      [referenceOf(order)],
    );
    const { notifications, earlierNotifications } = await readOrderDetails(database, order);
    expect([notifications.length, earlierNotifications]).toEqual([100, 50]);
    expect([notifications[0], notifications.at(-1)]).toMatchObject([
      { receivedAt: new Date('2026-11-30T00:00:51Z') },
      { receivedAt: new Date('2026-11-30T00:02:30Z') },
    ]);
  });

  it('is the revenue by day, less refunds, with zeros for days without any', async () => {
    const timeZone = zoneAtNoon();
    const revenue = () => readRevenue(database, { currency: 'IDR', timeZone, days: 3 });
    expect((await revenue()).map(({ amount, orders }) => [amount, orders])).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    await buy();
    const second = await buy();
    await buy(59_000);
    expect((await revenue()).at(-1)).toMatchObject({ amount: 249_000, orders: 2 });
    await refundOrder(host, second.id, { reason: 'bought twice', isManual: true });
    expect((await revenue()).at(-1)).toMatchObject({ amount: 154_000, orders: 2 });
    await database.query(`update payment set paid_at = paid_at - interval '1 day' where outcome = 'activated'`);
    expect((await revenue()).map(({ amount }) => amount)).toEqual([0, 190_000, -36_000]);
  });

  it('is what accounts have paid, whatever became of the money', async () => {
    const timeZone = zoneAtNoon();
    const [order] = [await buy(), await buy(59_000)];
    await refundOrder(host, order.id, { reason: 'did not work', isManual: true });
    await settle(host, 'fake', {
      ...fake.evidence(referenceOf(order)),
      paymentId: 'second',
      paid: { amount: 48_000, currency: 'IDR' },
    });
    const revenue = await readRevenue(database, { currency: 'IDR', timeZone, days: 1 });
    expect(revenue).toMatchObject([{ amount: 59_000 + 48_000, orders: 1 }]);
    expect(await readAccountRevenue(database, order.accountId, 'IDR')).toEqual({ amount: 48_000, orders: 1 });
  });

  it('are the open flags with their money, the worst first, then the oldest', async () => {
    const wrong = await buy(59_000);
    const twice = await buy();
    await settle(host, 'fake', {
      ...fake.evidence(referenceOf(twice)),
      paymentId: 'second',
      paid: { amount: 48_000, currency: 'IDR' },
    });
    const older = await buy(1);
    await database.query(`update order_flag set created_at = created_at - interval '1 hour' where order_id = ?`, [
      older.id,
    ]);
    const { flags, total } = await listOpenFlags(database, 3);
    const own = flags.filter(({ order }) => [wrong.id, twice.id, older.id].includes(order?.id ?? ''));
    expect(own[0]).toMatchObject({
      kind: 'wrong_amount',
      order: { code: older.code, buyer: 'Ani', price: 95_000 },
    });
    expect(own[0]?.money).toEqual({ kind: 'payment', amount: 1, currency: 'IDR', statedAmount: undefined });
    expect(total).toBeGreaterThanOrEqual(3);
    const flag = own[0] as (typeof own)[number];
    expect(await findOpenFlag(database, flag.id)).toEqual(flag);
    await resolveFlag(database, flag.id, 'paid back');
    expect(await findOpenFlag(database, flag.id)).toBeUndefined();
    expect((await listOpenFlags(database, 1)).total).toBe(total - 1);
  });
});

describe('active passes', () => {
  it('are accounts with paid time now, those that end within a day, and the days before', async () => {
    const before = await countPasses(database, 2);
    const [long, short, ended] = [
      await createBuyer(database),
      await createBuyer(database),
      await createBuyer(database),
    ];
    await grantDays(database, long, { days: 3, note: 'test' });
    await grantDays(database, short, { days: 1, note: 'test' });
    await database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason)
       values (?, ?, now() - interval '25 hours', now() - interval '1 hour', 1, 'grant')`,
      [randomUUID(), ended],
    );
    const after = await countPasses(database, 2);
    expect(after.active - before.active).toBe(2);
    expect(after.ending - before.ending).toBe(1);
    expect(after.history.map((count, index) => count - (before.history[index] ?? 0))).toEqual([1, 2]);
  });

  it('exclude blocked accounts from the time of the block', async () => {
    const before = await countPasses(database, 2);
    const buyer = await createBuyer(database);
    await database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason)
       values (?, ?, now() - interval '2 days', now() + interval '12 hours', 1, 'grant')`,
      [randomUUID(), buyer],
    );
    await blockAccount(database, buyer, 'abuse');
    const after = await countPasses(database, 2);
    expect([after.active - before.active, after.ending - before.ending]).toEqual([0, 0]);
    expect(after.history.map((count, index) => count - (before.history[index] ?? 0))).toEqual([1, 0]);
  });
});

describe('an operator’s action', () => {
  const action = {
    operator: { id: '00000000-0000-4000-8000-000000000000', name: 'ops@example.com' },
    action: 'order.refund' as const,
    subject: 'order-1',
    details: { note: 'bought twice', days_back: 'none' as const },
  };

  it('is recorded with name, note and outcome', async () => {
    expect(await recordAction(database, action, () => Promise.resolve(7))).toBe(7);
    const failed = recordAction(database, { ...action, details: { note: '{"amount": 1}' } }, () =>
      Promise.reject(new Error('the provider is away')),
    );
    await expect(failed).rejects.toThrow('the provider is away');
    expect(await listActions(database, { subject: 'order-1', limit: 10 })).toMatchObject([
      {
        operator: 'ops@example.com',
        outcome: 'failed',
        error: 'the provider is away',
        note: '{"amount": 1}',
        details: {},
      },
      {
        action: 'order.refund',
        outcome: 'done',
        error: undefined,
        note: 'bought twice',
        details: { days_back: 'none' },
      },
    ]);
    expect(await listActions(database, { subject: 'order-2', limit: 10 })).toEqual([]);
    const [stored] = await database.query(`select note from operator_action where note like '%bought twice%'`);
    expect(stored).toEqual({ note: '{"note":"bought twice","days_back":"none"}' });
  });

  it('is on record before it has ended', async () => {
    await recordAction(database, { ...action, subject: 'order-3' }, async () => {
      expect(await listActions(database, { subject: 'order-3', limit: 1 })).toMatchObject([{ outcome: 'unknown' }]);
    });
  });
});

it('orders of a day begin with what is wrong, page by page, and are the newest first otherwise', async () => {
  const [fine, second, wrong, failed, newest] = [await buy(), await buy(), await buy(1_000), await buy(), await buy()];
  const subject = { orderId: second.id, accountId: second.accountId };
  await database.fork().transactional((transaction) => flagOrder(transaction, subject, 'second_payment', 'p2'));
  await database.query(`update plan_order set state = 'failed', paid_at = null where id = ?`, [failed.id]);
  const codes: string[] = [];
  let cursor: string | undefined;
  do {
    const { orders, next } = await listOrders(database, { isWorstFirst: true }, cursor, 2);
    codes.push(...orders.map(({ code }) => code));
    cursor = next;
  } while (cursor !== undefined);
  expect(codes).toEqual([wrong, second, failed, newest, fine].map(({ code }) => code));
  const { orders } = await listOrders(database, {}, undefined, 10);
  expect(orders.map(({ code }) => code)).toEqual([newest, failed, wrong, second, fine].map(({ code }) => code));
});
