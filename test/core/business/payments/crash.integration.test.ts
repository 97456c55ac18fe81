import type { EntityManager } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { receiveNotification } from '#core/business/payments/inbox.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
import { getInboxQueue } from '#core/business/payments/work-queue.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { FakeProvider } from './fake-provider.ts';
import { createBuyer, createPaymentHost, referenceOf, timeHeld } from './fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** A database that a process can use for so many statements: then the process is dead, and its transaction with it. */
class DyingDatabase {
  #left: number;

  constructor(statements: number) {
    this.#left = statements;
  }

  get isDead(): boolean {
    return this.#left < 0;
  }

  open(): Database {
    return Object.assign(Object.create(database), {
      query: (sql: string, parameters?: readonly unknown[]) => this.#step(() => database.query(sql, parameters)),
      fork: () => this.#watch(database.fork()),
    });
  }

  #watch(manager: EntityManager): EntityManager {
    return new Proxy(manager, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'transactional')
          return (work: (transaction: EntityManager) => Promise<unknown>) =>
            target.transactional((transaction) => work(this.#watch(transaction)));
        if (name === 'execute' || name === 'findOne' || name === 'findOneOrFail')
          return (...parameters: unknown[]) =>
            this.#step(() => (value as (...all: unknown[]) => Promise<unknown>).apply(target, parameters));
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  #step<T>(work: () => Promise<T>): Promise<T> {
    if (this.#left-- <= 0) {
      this.#left = -1;
      return Promise.reject(new Error('the process is dead'));
    }
    return work();
  }
}

/** Pays an order whose notification reaches a process that dies after so many statements; another process follows it. */
async function payWithDeathAfter(statements: number): Promise<boolean> {
  const fake = new FakeProvider();
  const healthy = createPaymentHost(database, [fake.provider]);
  const accountId = await createBuyer(database);
  const order = await startOrder(healthy, accountId, 7);
  const reference = referenceOf(order);
  fake.pay(reference);
  const dying = new DyingDatabase(statements);
  const host = createPaymentHost(dying.open(), [fake.provider]);
  const send = (to: typeof host) =>
    receiveNotification(to, 'fake', {
      headers: { 'x-secret': 'right' },
      body: Buffer.from(JSON.stringify({ reference, key: order.id })),
      query: new URLSearchParams(),
    });
  const { status } = await send(host);
  await getInboxQueue(host).waitUntilIdle();
  if (status !== 200) await send(healthy);
  await database.query('update payment_notification set next_try_at = clock_timestamp() where next_try_at is not null');
  await sweepPayments(healthy);
  await getInboxQueue(healthy).waitUntilIdle();
  expect((await readOrder(database, { id: order.id }))?.state, `after ${statements} statements`).toBe('paid');
  expect(await timeHeld(database, accountId), `after ${statements} statements`).toEqual({
    seconds: 604_800,
    periods: 1,
  });
  const events = await database.query('select 1 from account_event where dedupe_key = ?', [`order.paid:${order.id}`]);
  expect(events).toHaveLength(1);
  return dying.isDead;
}

/** Orders through a process that dies after so many statements; another one goes on when the leases of the first are over. */
async function orderWithDeathAfter(statements: number): Promise<boolean> {
  const fake = new FakeProvider();
  const healthy = createPaymentHost(database, [fake.provider]);
  const accountId = await createBuyer(database);
  const dying = new DyingDatabase(statements);
  await startOrder(createPaymentHost(dying.open(), [fake.provider]), accountId, 7).catch(() => undefined);
  // The buyer tries again, and gets the order that there is.
  let order = await startOrder(healthy, accountId, 7);
  for (let sweeps = 0; order.attempt?.qr === undefined && sweeps < 3; sweeps++) {
    const [due] = await database.query<{ delay: number }>(
      `update payment_attempt a set next_check_at = clock_timestamp(), created_at = a.created_at - interval '20 s'
       from payment_attempt old where a.reference = old.reference and a.order_id = ? and old.next_check_at is not null
       returning extract(epoch from old.next_check_at - clock_timestamp())::float8 as delay`,
      [order.id],
    );
    expect(due?.delay, `the next check after ${statements} statements`).toBeLessThanOrEqual(20);
    await sweepPayments(healthy);
    order = (await readOrder(database, { id: order.id })) ?? order;
  }
  expect(order.state, `after ${statements} statements`).toBe('pending');
  expect(order.attempt?.qr, `after ${statements} statements`).toBeDefined();
  return dying.isDead;
}

describe('a process that dies', () => {
  it('at any statement of an order leaves one that can be paid, and is looked at within 20 seconds', async () => {
    let statements = 0;
    while (await orderWithDeathAfter(statements)) statements++;
    // The account, the order, its attempt, the beginning and the end of its charge.
    expect(statements).toBeGreaterThan(8);
  });

  it('at any statement between a notification and its end leaves an order that is activated once', async () => {
    let statements = 0;
    while (await payWithDeathAfter(statements)) statements++;
    // Storing, claiming, reading the charge, settling and finishing: the loop has tried each of them.
    expect(statements).toBeGreaterThan(12);
  });
});
