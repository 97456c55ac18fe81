import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askProvider } from '#core/business/payments/ask-provider.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { flagOrder } from '#core/business/payments/flags.ts';
import { paymentGauges } from '#core/business/payments/payment-figures.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { FakeProvider } from './fake-provider.ts';
import { createBuyer, createPaymentHost } from './fixture.ts';

let database: Database;
let host: Host;
beforeAll(async () => {
  database = await createTestDatabase();
  host = createPaymentHost(database, [new FakeProvider().provider]);
});
afterAll(() => database[Symbol.asyncDispose]());

async function read(name: string): Promise<Record<string, number>> {
  const gauge = paymentGauges.find((one) => one.name === name);
  const readings = [...((await gauge?.read(host)) ?? [])];
  return Object.fromEntries(readings.map(({ labels = {}, value }) => [Object.values(labels).join(' '), value]));
}

describe('the metrics of payments', () => {
  it('count orders by state, open flags by kind and pending refunds', async () => {
    const accountId = await createBuyer(database);
    const { id: orderId, code } = await startOrder(host, accountId, 7);
    await database.fork().transactional(async (transaction) => {
      await flagOrder(transaction, { orderId, accountId }, 'second_payment', 'a');
      await flagOrder(transaction, { orderId, accountId }, 'second_payment', 'b');
    });
    await database.query(`update order_flag set resolved_at = now() where subject = 'a'`);
    await database.query(
      `with paid as (
         insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
         select gen_random_uuid(), order_id, reference, 'fake', 'py', 1, 'IDR', now(), 'second', '{}'
         from payment_attempt where order_id = ? returning id, order_id
       )
       insert into refund (key, order_id, payment_id, amount, currency, state, reason)
       select ?, order_id, id, 1, 'IDR', 'asked', 'test' from paid`,
      [orderId, `${code}-R1`],
    );
    expect([await read('orders'), await read('order_flags_open'), await read('refunds_pending')]).toEqual([
      { pending: 1 },
      { second_payment: 1 },
      { '': 1 },
    ]);
  });

  it('have the age of the oldest payment that is not confirmed', async () => {
    expect(await read('payment_unconfirmed_oldest_seconds')).toEqual({ '': 0 });
    const { code } = await startOrder(host, await createBuyer(database), 7);
    await database.query(
      `insert into payment_notification (provider, event_key, reference, body, received_at, next_try_at)
       values ('fake', 'done', ?, '{}', now() - interval '1 day', null),
         ('fake', 'of another shop', 'OTHER.1', '{}', now() - interval '1 hour', now()),
         ('fake', 'open', ?, '{}', now() - interval '5 minutes', now())`,
      [`${code}.1`, `${code}.1`],
    );
    const age = (await read('payment_unconfirmed_oldest_seconds'))[''] ?? 0;
    expect(Math.abs(age - 300)).toBeLessThan(60);
  });

  it('count calls to the provider by result', async () => {
    const before = await read('payment_provider_calls_total');
    await askProvider(host, 'fake', async () => 1);
    for (const failure of [new PaymentError('rejected', 'no'), new Error('broken')])
      await askProvider(host, 'fake', () => Promise.reject(failure)).catch(() => undefined);
    const after = await read('payment_provider_calls_total');
    const added = (key: string) => (after[key] ?? 0) - (before[key] ?? 0);
    expect(['fake ok', 'fake rejected', 'fake unknown', 'fake temporary'].map(added)).toEqual([1, 1, 1, 0]);
  });
});
