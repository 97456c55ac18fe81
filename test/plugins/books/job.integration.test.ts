import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { reconcileJob } from '../../../plugins/books/job.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { createBuyer, createPaymentHost, referenceOf } from '../../core/business/payments/fixture.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

it('the daily comparison settles a payment of yesterday whose notification was lost, and says what it has found', async () => {
  const [fake, away] = [new FakeProvider('bank'), new FakeProvider('away')];
  const lines: string[] = [];
  const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) };
  const made = createPaymentHost(database, [fake.provider, away.provider]);
  const section = ((one: { name: string }) =>
    one.name === service.name ? { time_zone: 'UTC' } : made.section(one as never)) as Host['section'];
  const host: Host = { ...made, section, log: { ...made.log, ...log }, now: () => Date.now() + 86_400_000 };
  const order = await startOrder(host, await createBuyer(database), 7);
  await database.query(
    `insert into payment_attempt (reference, order_id, number, provider, charge, amount, currency, expires_at)
     values ('ORD-AWAY.1', ?, 2, 'away', 'created', 1, 'IDR', now())`,
    [order.id],
  );
  fake.pay(referenceOf(order));
  fake.listMoney();
  away.connection.listMovements = () => Promise.reject(new PaymentError('temporary', 'HTTP 503'));
  await reconcileJob.run({} as never, host);
  expect((await readOrder(database, { id: order.id }))?.payments).toMatchObject([{ amount: 95_000, fee: 665 }]);
  const today = new Date().toISOString().slice(0, 10);
  expect(lines).toContain(`books of ${today} compared with bank: 1 payments, 0 refunds, 0 differences, 0 unread`);
  expect(lines).toContain(`books of ${today} could not be compared with away: HTTP 503`);
});
