import type { EntityManager } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { receiveNotification } from '#core/business/payments/inbox.ts';
import { inboxQueue } from '#core/business/payments/work-queue.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
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
  await inboxQueue(host).idle();
  if (status !== 200) await send(healthy);
  await database.query('update payment_notification set next_try_at = clock_timestamp() where next_try_at is not null');
  await sweepPayments(healthy);
  await inboxQueue(healthy).idle();
  expect((await readOrder(database, { id: order.id }))?.state, `after ${statements} statements`).toBe('paid');
  expect(await timeHeld(database, accountId), `after ${statements} statements`).toEqual({
    seconds: 604_800,
    periods: 1,
  });
  const events = await database.query('select 1 from account_event where dedupe_key = ?', [`order.paid:${order.id}`]);
  expect(events).toHaveLength(1);
  return dying.isDead;
}

describe('a process that dies', () => {
  it('at any statement between a notification and its end leaves an order that is activated once', async () => {
    let statements = 0;
    while (await payWithDeathAfter(statements)) statements++;
    // Storing, claiming, reading the charge, settling and finishing: the loop has tried each of them.
    expect(statements).toBeGreaterThan(12);
  });
});
