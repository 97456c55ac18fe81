import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readOrder } from '#core/business/payments/order.ts';
import type { Database } from '#core/platform/database/database.ts';
import { Migration20261125000001_refunds_of_payments as Refunds } from '../../../../migrations/Migration20261125000001_refunds_of_payments.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { createBuyer } from './fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** Runs one direction of the migration, as it is written. */
async function migrate(direction: 'up' | 'down'): Promise<void> {
  const migration = new Refunds({} as never, {} as never);
  migration[direction]();
  for (const query of migration.getQueries()) await database.query(String(query));
}

it('refunds of the former version keep their money, and get their states and payments', async () => {
  await migrate('down');
  const [orderId, paymentId] = [randomUUID(), randomUUID()];
  await database.query(
    `insert into plan_order (id, code, account_id, days, price, currency, provider, state, expires_at, paid_at)
     values (?, 'ORD-OLD', ?, 7, 95000, 'IDR', 'fake', 'paid', now(), now())`,
    [orderId, await createBuyer(database)],
  );
  await database.query(
    `insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at)
     values ('ORD-OLD.1', ?, 1, 'fake', 95000, 'IDR', now())`,
    [orderId],
  );
  await database.query(
    `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
     values (?, ?, 'ORD-OLD.1', 'fake', 'P1', 95000, 'IDR', now(), 'activated', '{}')`,
    [paymentId, orderId],
  );
  await database.query(
    `insert into refund (key, order_id, payment_id, amount, currency, state, is_manual, reason, raw, created_at) values
       ('R1', ?, ?, 95000, 'IDR', 'pending', false, 'a', null, now()),
       ('R2', ?, ?, 95000, 'IDR', 'pending', false, 'b', '{}', now() + interval '1 s'),
       ('R3', ?, null, 95000, 'IDR', 'done', true, 'c', null, now() + interval '2 s'),
       ('R4', ?, ?, 95000, 'IDR', 'failed', false, 'd', '{}', now() + interval '3 s')`,
    [orderId, paymentId, orderId, paymentId, orderId, orderId, paymentId],
  );
  await migrate('up');
  const order = await readOrder(database, { id: orderId });
  expect(order?.refunds.map((one) => [one.key, one.state, one.paymentId, one.days, one.isManual])).toEqual([
    ['R1', 'asked', paymentId, 'unused', false],
    ['R2', 'sent', paymentId, 'unused', false],
    ['R3', 'done', paymentId, 'unused', true],
    ['R4', 'failed', paymentId, 'unused', false],
  ]);
});
