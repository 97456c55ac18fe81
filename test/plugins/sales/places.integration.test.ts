import type { EntityManager } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blockAccount, pauseAccount, resumeAccount } from '#core/business/accounts/blocking.ts';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { grantDays, extendPeriod, revokeDays } from '#core/business/accounts/ledger.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { cancelOrder, renewCharge, startOrder } from '#core/business/payments/checkout.ts';
import type { Order } from '#core/business/payments/order.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Database } from '#core/platform/database/database.ts';
import { readSoldOut } from '../../../plugins/sales/availability.ts';
import { recordDay, reserveFreePlaces } from '../../../plugins/sales/jobs.ts';
import { countPlaces, listSalesDays, readSales, salesGauges } from '../../../plugins/sales/sales-figures.ts';
import {
  findWait,
  joinWaitingList,
  leaveWaitingList,
  listWaiting,
  listWaits,
} from '../../../plugins/sales/waiting-list.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import {
  createBuyer,
  createPaymentHost,
  type PaymentSettings,
  referenceOf,
} from '../../core/business/payments/fixture.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { tablesHere } from '../../support/registered.ts';

let database: Database;
let fake: FakeProvider;
beforeAll(async () => {
  database = await createTestDatabase(silentLog, await tablesHere());
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  fake = new FakeProvider();
  // Each test has all places: those of accounts that are deleted are free.
  await database.query(`update account set deleted_at = clock_timestamp()`);
  await database.query(
    `update waiting_entry set ended_at = clock_timestamp(), outcome = 'left' where ended_at is null`,
  );
});

const hostWith = (settings: PaymentSettings) =>
  createPaymentHost(database, [fake.provider], { payments: { provider: 'fake' }, ...settings });
const withPlaces = (max_active: number) => hostWith({ sales: { max_active } });
const buyer = () => createBuyer(database);

const pay = (order: Order) =>
  settle(hostWith({}), 'fake', {
    reference: referenceOf(order),
    state: 'paid',
    paid: { amount: order.price, currency: order.currency },
    providerReference: order.attempt?.providerReference,
    paymentId: `P-${order.code}`,
    raw: null,
  });
const expire = (order: Order) =>
  settle(hostWith({}), 'fake', {
    reference: referenceOf(order),
    providerReference: order.attempt?.providerReference,
    state: 'expired',
    raw: null,
  });
const endPass = (accountId: string) =>
  database.fork().transactional((transaction) => revokeDays(transaction, accountId, 365, 'test'));
const within = <T>(work: (transaction: EntityManager) => Promise<T>) => database.fork().transactional(work);
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof CheckoutError ? error.kind : Promise.reject(error as Error)),
  );
const heldOf = async (host: ReturnType<typeof hostWith>) => (await countPlaces(host)).map(({ held }) => held);

describe('places', () => {
  it('are sold as often as there are, when twenty buyers come to two instances at once', async () => {
    const hosts = [withPlaces(3), withPlaces(3)] as const;
    const buyers = await Promise.all(Array.from({ length: 20 }, buyer));
    const results = await Promise.all(
      buyers.map((account, index) => kindOf(startOrder(hosts[index % 2 === 0 ? 0 : 1], account, 1))),
    );
    expect(results.filter((one) => one === 'done')).toHaveLength(3);
    expect(results.filter((one) => one === 'sold_out')).toHaveLength(17);
    expect(await heldOf(hosts[0])).toEqual([3]);
  });

  it('are held by an open order, and free again when it is cancelled or has expired', async () => {
    const host = withPlaces(1);
    const [first, second, third] = [await buyer(), await buyer(), await buyer()];
    const order = await startOrder(host, first, 1);
    expect(await kindOf(startOrder(host, second, 1))).toBe('sold_out');
    await cancelOrder(host, order.id);
    const next = await startOrder(host, second, 1);
    expect(await kindOf(startOrder(host, third, 1))).toBe('sold_out');
    await expire(next);
    expect(await kindOf(startOrder(host, third, 1))).toBe('done');
  });

  it('are held by an account once, whatever it has, and it can always renew', async () => {
    const host = withPlaces(1);
    const [owner, other] = [await buyer(), await buyer()];
    await pay(await startOrder(host, owner, 7));
    await startOrder(host, owner, 1);
    await startOrder(host, owner, 30);
    expect(await heldOf(host)).toEqual([1]);
    expect(await kindOf(startOrder(host, other, 1))).toBe('sold_out');
    await endPass(owner);
    expect(await kindOf(startOrder(host, other, 1))).toBe('sold_out'); // the open orders of the owner may still be paid
  });

  it('are exceeded by money that came late, which is honoured and counted as such', async () => {
    const host = withPlaces(1);
    const [late, other] = [await buyer(), await buyer()];
    const order = await startOrder(host, late, 1);
    await expire(order);
    await pay(await startOrder(host, other, 1));
    expect(await pay(order)).toBe('paid');
    const [places] = await countPlaces(host);
    expect(places).toMatchObject({ max: 1, held: 2, byKind: { bought: 1, late: 1 } });
    expect(await kindOf(startOrder(host, await buyer(), 1))).toBe('sold_out');
    expect(await kindOf(startOrder(host, late, 1))).toBe('done');
  });

  it('are not taken back from an order that had ended: another charge needs another place', async () => {
    const host = withPlaces(1);
    const [first, second] = [await buyer(), await buyer()];
    const order = await startOrder(host, first, 1);
    await expire(order);
    await startOrder(host, second, 1);
    expect(await kindOf(renewCharge(host, order.id))).toBe('sold_out');
  });

  it('are taken, over the limit too, by days that the operator adds, which count as given', async () => {
    const host = withPlaces(1);
    const [first, second] = [await buyer(), await buyer()];
    for (const account of [first, second]) await grantDays(database, account, { days: 1 });
    const [places] = await countPlaces(host);
    expect(places).toMatchObject({ held: 2, byKind: { given: 2, bought: 0 } });
    expect(await kindOf(startOrder(host, await buyer(), 1))).toBe('sold_out');
  });

  it('are kept by a blocked account, whose pass runs on, and freed by a deleted one', async () => {
    const host = withPlaces(1);
    const owner = await buyer();
    await grantDays(database, owner, { days: 1 });
    await blockAccount(database, owner, 'test');
    expect(await heldOf(host)).toEqual([1]);
    await deleteAccount(database, owner);
    expect(await heldOf(host)).toEqual([0]);
  });

  it('are limited by plan: a pass of another plan is no place in this one', async () => {
    const host = hostWith({
      plans: [
        { days: 1, price: 1_000, max_active: 1 },
        { days: 7, price: 5_000 },
      ],
    });
    const [first, second] = [await buyer(), await buyer()];
    await pay(await startOrder(host, first, 1));
    await pay(await startOrder(host, second, 7));
    expect(await kindOf(startOrder(host, second, 1))).toBe('sold_out');
    expect(await kindOf(startOrder(host, first, 1))).toBe('done');
    expect(await kindOf(startOrder(host, second, 7))).toBe('done');
    expect(await countPlaces(host)).toMatchObject([{ days: 1, max: 1, held: 1 }]);
  });

  it('cost no lock and no query of an order where nothing is limited', async () => {
    const host = hostWith({});
    await using lock = await heldLock(database);
    expect(await kindOf(startOrder(host, await buyer(), 1))).toBe('done');
    expect(lock.isHeld).toBe(true);
    expect([await countPlaces(host), await readSoldOut(host, undefined)]).toEqual([[], new Map()]);
  });
});

/** Holds the lock of the places in another transaction until it is disposed of. */
async function heldLock({ fork }: Database) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const ended = fork().transactional(async (transaction) => {
    await transaction.execute(`select pg_advisory_xact_lock(hashtext('sales-places'))`);
    take();
    await released;
  });
  await taken;
  return {
    isHeld: true,
    async [Symbol.asyncDispose]() {
      release();
      await ended;
    },
  };
}

describe('what is sold out', () => {
  it('says when the pass ends whose place is next, behind those that wait', async () => {
    const host = withPlaces(2);
    const [short, long] = [await buyer(), await buyer()];
    await pay(await startOrder(host, short, 1));
    await pay(await startOrder(host, long, 7));
    const dayMs = 86_400_000;
    expect((await readSoldOut(host, undefined)).get(1)?.freeAt).toBeCloseTo(Date.now() + dayMs, -5);
    await joinWaitingList(host, await buyer(), 1);
    const waited = withPlaces(2);
    expect((await readSoldOut(waited, undefined)).get(1)?.freeAt).toBeCloseTo(Date.now() + 7 * dayMs, -5);
    expect((await readSoldOut(waited, await buyer())).size).toBe(4);
    expect((await readSoldOut(waited, short)).size).toBe(0);
  });

  it('is nothing while a place is free and no account waits for it', async () => {
    const host = withPlaces(1);
    expect((await readSoldOut(host, undefined)).size).toBe(0);
    await joinWaitingList(host, await buyer(), 1);
    expect((await readSoldOut(withPlaces(1), undefined)).get(1)).toEqual({ freeAt: undefined });
  });
});

describe('the waiting list', () => {
  it('gives free places in the order in which accounts came, with one event each', async () => {
    const host = withPlaces(1);
    const [owner, first, second] = [await buyer(), await buyer(), await buyer()];
    const order = await startOrder(host, owner, 1);
    for (const account of [first, second, first]) await joinWaitingList(host, account, 1);
    expect((await findWait(host, second))?.position).toBe(2);
    await reserveFreePlaces(host);
    expect((await listWaiting(withPlaces(1), 10)).every(({ position }) => position > 0)).toBe(true);
    await cancelOrder(host, order.id);
    await Promise.all([reserveFreePlaces(host), reserveFreePlaces(withPlaces(1)), reserveFreePlaces(host)]);
    expect(await listWaiting(withPlaces(1), 10)).toMatchObject([
      { accountId: first, position: 0, reservedUntil: expect.any(Date) },
      { accountId: second, position: 1 },
    ]);
    expect(await eventsOf(first)).toBe(1);
    expect(await eventsOf(second)).toBe(0);
    const [joined, reservedAt] = [expect.any(Date), expect.any(Date)];
    expect(await listWaits(database, first, 10)).toMatchObject([{ days: 1, joinedAt: joined, reservedAt }]);
    expect(await listWaits(database, second, 10)).toMatchObject([{ days: 1, reservedAt: undefined }]);
  });

  it('comes before a buyer who did not wait, in the same transaction', async () => {
    const host = withPlaces(1);
    const [owner, waiting, stranger] = [await buyer(), await buyer(), await buyer()];
    const order = await startOrder(host, owner, 1);
    await joinWaitingList(host, waiting, 1);
    await cancelOrder(host, order.id);
    expect(await kindOf(startOrder(host, stranger, 1))).toBe('sold_out');
    expect(await kindOf(startOrder(host, waiting, 1))).toBe('done');
  });

  it('gives the place to the next one when a reservation is not used, and ends the wait of one that bought', async () => {
    const host = withPlaces(1);
    const [first, second] = [await buyer(), await buyer()];
    for (const account of [first, second]) await joinWaitingList(host, account, 1);
    await reserveFreePlaces(host);
    await database.query(`update waiting_entry set reserved_until = clock_timestamp() where account_id = ?`, [first]);
    await reserveFreePlaces(host);
    expect(await findWait(host, first)).toBeUndefined();
    await pay(await startOrder(host, second, 1));
    expect(await findWait(host, second)).toBeUndefined();
    await reserveFreePlaces(host);
    const outcomes = await database.query<object>(
      'select account_id, outcome from waiting_entry where account_id in (?, ?) order by joined_at',
      [first, second],
    );
    expect(outcomes).toEqual([
      { account_id: first, outcome: 'expired' },
      { account_id: second, outcome: 'bought' },
    ]);
  });

  it('keeps accounts that are granted days, or get time back after an earlier pass', async () => {
    const host = withPlaces(1);
    const [owner, granted, former] = [await buyer(), await buyer(), await buyer()];
    await pay(await startOrder(host, owner, 1));
    await database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason)
       values (gen_random_uuid(), ?, now() - interval '9 days', now() - interval '2 days', 7, 'grant')`,
      [former],
    );
    for (const account of [granted, former]) await joinWaitingList(host, account, 7);
    const give = async () => {
      await grantDays(database, granted, { days: 1 });
      await database.fork().transactional((transaction) => extendPeriod(transaction, former, 600, 'outage'));
    };
    await give();
    await reserveFreePlaces(host);
    for (const account of [granted, former]) expect(await findWait(host, account)).toMatchObject({ days: 7 });
    // Each has a place, and a reservation of it now, which is ended by neither.
    await give();
    await reserveFreePlaces(host);
    for (const account of [granted, former])
      expect(await findWait(host, account)).toMatchObject({ reservedUntil: expect.any(Date) });
    await pay(await startOrder(host, former, 7));
    expect(await findWait(host, former)).toBeUndefined();
  });

  it('gives a place up when an account leaves or is blocked', async () => {
    const host = withPlaces(1);
    const [first, second, third] = [await buyer(), await buyer(), await buyer()];
    for (const account of [first, second, third]) await joinWaitingList(host, account, 1);
    await reserveFreePlaces(host);
    await leaveWaitingList(host, first);
    await blockAccount(database, second, 'test');
    await reserveFreePlaces(host);
    expect(await listWaiting(withPlaces(1), 10)).toMatchObject([{ accountId: third, position: 0 }]);
  });

  it('keeps the place of an account in the list while its owner has paused it, and reserves none for it', async () => {
    const host = withPlaces(1);
    const [owner, paused, next] = [await buyer(), await buyer(), await buyer()];
    await pay(await startOrder(host, owner, 1));
    for (const account of [paused, next]) await joinWaitingList(host, account, 1);
    await within((transaction) => pauseAccount(transaction, paused, 'test'));
    await endPass(owner);
    await reserveFreePlaces(host);
    expect(await findWait(host, next)).toMatchObject({ position: 0 });
    expect(await findWait(host, paused)).toMatchObject({ reservedUntil: undefined });
    await leaveWaitingList(host, next);
    await within((transaction) => resumeAccount(transaction, paused));
    await reserveFreePlaces(host);
    expect(await findWait(host, paused)).toMatchObject({ position: 0, reservedUntil: expect.any(Date) });
  });

  it('does not hold up those that wait for another plan behind one whose plan is full', async () => {
    const plans = [
      { days: 1, price: 1_000, max_active: 1 },
      { days: 7, price: 5_000 },
    ];
    const host = hostWith({ plans, sales: { max_active: 2 } });
    const [owner, other, first, second] = [await buyer(), await buyer(), await buyer(), await buyer()];
    await pay(await startOrder(host, owner, 1));
    const order = await startOrder(host, other, 7);
    await joinWaitingList(host, first, 1);
    await joinWaitingList(host, second, 7);
    await cancelOrder(host, order.id);
    await reserveFreePlaces(host);
    expect((await findWait(host, first))?.position).toBe(1);
    expect((await findWait(host, second))?.position).toBe(0);
  });

  it('gives everyone a place once the limit is gone', async () => {
    await joinWaitingList(hostWith({}), await buyer(), 1);
    await reserveFreePlaces(hostWith({}));
    expect(await listWaiting(withPlaces(1), 10)).toMatchObject([{ position: 0 }]);
  });
});

async function eventsOf(accountId: string): Promise<number> {
  const rows = await database.query(
    `select 1 from account_event where name = 'place.reserved' and payload ->> 'accountId' = ?`,
    [accountId],
  );
  return rows.length;
}

describe('the figures of operators', () => {
  it('keep the most of a day under each limit, a changed limit included', async () => {
    await database.query('delete from sales_day');
    const [three, two] = [withPlaces(3), withPlaces(2)];
    const order = await startOrder(three, await buyer(), 1);
    await recordDay(three, await countPlaces(three));
    await cancelOrder(three, order.id);
    await recordDay(three, await countPlaces(three));
    await recordDay(two, await countPlaces(two));
    expect(await listSalesDays(database, 28)).toMatchObject([
      { days: undefined, max: 2, held: 0, waiting: 0 },
      { days: undefined, max: 3, held: 1, waiting: 0 },
    ]);
    expect((await readSales(two)).days).toHaveLength(2);
  });

  it('are metrics by plan and kind, and none without limits', async () => {
    const host = hostWith({ plans: [{ days: 1, price: 1_000, max_active: 4 }], sales: { max_active: 5 } });
    await grantDays(database, await buyer(), { days: 1 });
    await startOrder(host, await buyer(), 1);
    const read = async (of: typeof host) =>
      Object.fromEntries(
        await Promise.all(
          salesGauges.map(async ({ name, read: readings }) => {
            const found = [...(await readings(of))].filter(({ value }) => value > 0);
            return [
              name,
              found.map(({ value, labels = {} }) => `${Object.values(labels).join(' ')}: ${value}`),
            ] as const;
          }),
        ),
      );
    expect(await read(host)).toEqual({
      sales_places: ['all given: 1', 'all ordered: 1', '1 ordered: 1'],
      sales_max_active: ['all: 5', '1: 4'],
      sales_waiting: [],
    });
    expect(await read(hostWith({}))).toEqual({ sales_places: [], sales_max_active: [], sales_waiting: [] });
  });
});
