import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { checkOverduePayments, checkPayment } from '#core/business/payments/checks.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { settle } from '#core/business/payments/settle.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { fakeQr } from '../../../support/fake-qr.ts';
import { FakeProvider } from './fake-provider.ts';
import { createBuyer, createPaymentHost, type PaymentHost, referenceOf, timeHeld } from './fixture.ts';

let database: Database;
let fake: FakeProvider;
let host: PaymentHost;
let accountId: string;
let order: Order;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  fake = new FakeProvider();
  host = createPaymentHost(database, [fake.provider]);
  accountId = await createBuyer(database);
  order = await startOrder(host, accountId, 7);
});

const reread = async () => (await readOrder(database, { id: order.id })) as Order;
const due = (reference = referenceOf(order)) =>
  database.query('update payment_attempt set next_check_at = clock_timestamp() where reference = ?', [reference]);
const pass = () =>
  database.query(
    `update plan_order set created_at = created_at - interval '31 min', expires_at = expires_at - interval '31 min' where id = ?`,
    [order.id],
  );
const passDays = (days: number) =>
  database.query(
    `update plan_order set created_at = created_at - interval '${days} days', expires_at = expires_at - interval '${days} days'
     where id = ?`,
    [order.id],
  );
const check = async () => {
  await due();
  await checkPayment(host, referenceOf(order));
};
const attempt = async (reference = referenceOf(order)) =>
  (
    await database.query<{ delay: number | null; failures: number; checks: number; error: string | null }>(
      `select extract(epoch from next_check_at - clock_timestamp())::float8 as delay, failures, checks, error
       from payment_attempt where reference = ?`,
      [reference],
    )
  )[0];

describe('a check', () => {
  it('activates what has been paid, and is the last one', async () => {
    fake.pay(referenceOf(order));
    await check();
    expect((await reread()).state).toBe('paid');
    expect((await attempt())?.delay).toBeNull();
  });

  it('of a pending order puts the next one into database and queue', async () => {
    await check();
    const { delay, checks } = (await attempt()) ?? {};
    // About 20 seconds after the charge, less the time that a busy machine has taken since.
    expect(delay).toBeGreaterThan(5);
    expect(delay).toBeLessThan(24);
    expect(checks).toBe(1);
    // Less the time between the two readings, on a busy machine.
    expect(host.enqueued.at(-1)).toMatchObject({ name: 'check-payment', delay: expect.closeTo(delay ?? 0, -1) });
  });

  it('is made by one of many workers', async () => {
    await due();
    await Promise.all(Array.from({ length: 10 }, () => checkPayment(host, referenceOf(order))));
    expect(fake.calls.filter((call) => call === 'status')).toHaveLength(1);
  });

  it('that comes too early does nothing', async () => {
    await checkPayment(host, referenceOf(order));
    expect(fake.calls).toEqual(['charge']);
  });

  it('of a worker that has died is made by another one', async () => {
    fake.pay(referenceOf(order));
    fake.before = () => Promise.reject(new TypeError('the process has died'));
    await due();
    await checkPayment(host, referenceOf(order)).catch(() => undefined);
    fake.before = () => undefined;
    await check();
    expect((await reread()).state).toBe('paid');
  });
});

describe('a provider that does not answer properly never changes an order', () => {
  it.each([
    ['answers 500', new PaymentError('unknown', 'HTTP 500')],
    ['refuses the connection', new PaymentError('temporary', 'ECONNREFUSED')],
    ['sends HTML', new SyntaxError('Unexpected token <')],
    ['rejects the question', new PaymentError('rejected', 'HTTP 400')],
  ])('one that %s', async (_, error) => {
    fake.fail('status', error);
    await pass();
    await check();
    expect(await reread()).toMatchObject({ state: 'pending', attempt: { error: error.message } });
    const { failures, delay } = (await attempt()) ?? {};
    expect(failures).toBe(1);
    expect(delay).toBeLessThan(6);
  });

  it('one that answers about another charge', async () => {
    fake.connection.status = () => Promise.resolve({ ...fake.evidence(referenceOf(order)), reference: 'ORD-OTHER.1' });
    await check();
    expect((await reread()).attempt?.error).toContain('another charge');
  });

  it('and is asked less and less often', async () => {
    fake.fail('status');
    await database.query('update payment_attempt set failures = 20 where reference = ?', [referenceOf(order)]);
    await check();
    expect((await attempt())?.delay).toBeGreaterThan(140);
    expect((await attempt())?.delay).toBeLessThan(301);
    fake.failures.clear();
    await check();
    expect((await attempt())?.failures).toBe(0);
  });
});

describe('a provider that has not answered for a week after the expiry', () => {
  beforeEach(() => fake.fail('status'));

  it('is not asked again, and the order expires', async () => {
    await passDays(8);
    await check();
    expect(await reread()).toMatchObject({ state: 'expired', attempt: { error: 'HTTP 500' } });
    expect((await attempt())?.delay).toBeNull();
  });

  it('is asked again until then', async () => {
    await passDays(6);
    await check();
    expect((await reread()).state).toBe('pending');
    expect((await attempt())?.delay).toBeGreaterThan(0);
  });
});

describe('at the expiry', () => {
  beforeEach(pass);

  it('the charge is cancelled, and then the order expires', async () => {
    await check();
    expect((await reread()).state).toBe('expired');
    expect(fake.charges.get(referenceOf(order))?.cancels).toBe(1);
  });

  it('an order expires when its provider cannot cancel', async () => {
    const { cancel: _, ...connection } = fake.connection;
    host = createPaymentHost(database, [{ ...fake.provider, connect: () => connection }]);
    await check();
    expect((await reread()).state).toBe('expired');
    const events = await database.query(
      `select 1 from account_event where name = 'order.expired' and payload ->> 'orderId' = ?`,
      [order.id],
    );
    expect(events).toHaveLength(1);
  });

  it('an order expires when cancelling fails and it is not paid', async () => {
    fake.fail('cancel', new PaymentError('rejected', 'too late'));
    await check();
    expect((await reread()).state).toBe('expired');
  });

  it('a payment at the last moment activates', async () => {
    fake.before = (call) => {
      if (call === 'cancel') fake.pay(referenceOf(order));
    };
    await check();
    expect(await reread()).toMatchObject({ state: 'paid', isLate: false });
  });

  it('the checks continue, and a late payment activates', async () => {
    await check();
    expect((await attempt())?.delay).not.toBeNull();
    fake.pay(referenceOf(order));
    await check();
    expect(await reread()).toMatchObject({ state: 'paid', isLate: true });
    expect((await timeHeld(database, accountId)).periods).toBe(1);
  });

  it('the checks end after a day', async () => {
    await database.query("update plan_order set expires_at = expires_at - interval '1 day' where id = ?", [order.id]);
    await check();
    expect((await attempt())?.delay).toBeNull();
  });
});

describe('a charge whose outcome is unknown', () => {
  beforeEach(async () => {
    accountId = await createBuyer(database);
  });

  it('is read, and followed by another attempt when it does not exist', async () => {
    fake.fail('charge');
    order = await startOrder(host, accountId, 7);
    fake.failures.clear();
    await check();
    expect(await reread()).toMatchObject({ state: 'pending', attempt: { number: 2, charge: 'created' } });
    expect(fake.calls.slice(-2)).toEqual(['status', 'charge']);
  });

  it('is cancelled if it exists, because no buyer sees its code', async () => {
    fake.fail('charge', new PaymentError('unknown', 'timeout'), true);
    order = await startOrder(host, accountId, 7);
    fake.failures.clear();
    await check();
    expect(fake.charges.get(referenceOf(order))?.state).toBe('failed');
    expect(await reread()).toMatchObject({ state: 'pending', attempt: { number: 2, charge: 'created' } });
  });

  it('is cancelled as well when a notification or the buyer has found it first', async () => {
    fake.fail('charge', new PaymentError('unknown', 'timeout'), true);
    order = await startOrder(host, accountId, 7);
    fake.failures.clear();
    await settle(host, 'fake', fake.evidence(referenceOf(order)));
    expect(await reread()).toMatchObject({ state: 'pending', attempt: { charge: 'created', qr: undefined } });
    await database.query("update payment_attempt set created_at = created_at - interval '20 s' where order_id = ?", [
      order.id,
    ]);
    await check();
    expect(fake.charges.get(`${order.code}.1`)?.state).toBe('failed');
    expect(await reread()).toMatchObject({
      state: 'pending',
      attempt: { number: 2, qr: expect.stringContaining(`${order.code}.2`) },
    });
  });

  it('is followed by an attempt that is charged later where it could not be at once, or its process ended', async () => {
    fake.fail('charge', new PaymentError('unknown', 'timeout'), true);
    order = await startOrder(host, accountId, 7);
    fake.fail('charge', new PaymentError('temporary', 'HTTP 503'));
    await check();
    expect(await reread()).toMatchObject({ state: 'pending', attempt: { number: 2, charge: 'none', qr: undefined } });
    fake.failures.clear();
    order = await reread();
    await check();
    expect(await reread()).toMatchObject({
      state: 'pending',
      attempt: { number: 2, charge: 'created', qr: expect.stringContaining(`${order.code}.2`) },
    });
  });

  it('has its answer awaited before another attempt follows it', async () => {
    fake.connection.charge = async ({ reference }) => {
      const evidence = { reference, providerReference: `T-${reference}`, state: 'pending', raw: {} } as const;
      await settle(host, 'fake', evidence);
      fake.connection.status = () => Promise.resolve(evidence);
      await due(reference);
      await checkPayment(host, reference);
      return { providerReference: `T-${reference}`, qr: fakeQr(reference, order.price) };
    };
    order = await startOrder(host, accountId, 7);
    expect(await reread()).toMatchObject({
      state: 'pending',
      attempt: { number: 1, qr: expect.stringContaining(order.code) },
    });
  });

  it('activates when it turns out to be paid', async () => {
    fake.fail('charge', new PaymentError('unknown', 'timeout'), true);
    order = await startOrder(host, accountId, 7);
    fake.failures.clear();
    fake.pay(referenceOf(order));
    await check();
    expect(await reread()).toMatchObject({ state: 'paid', attempt: { number: 1 } });
  });

  it('is not followed by another attempt while its status cannot be read', async () => {
    fake.fail('charge');
    order = await startOrder(host, accountId, 7);
    fake.fail('status');
    await check();
    expect(await reread()).toMatchObject({ state: 'created', attempt: { number: 1 } });
  });

  it('of a process that died before it was recorded is found by the schedule', async () => {
    fake.before = () => Promise.reject(new TypeError('killed'));
    order = await startOrder(host, accountId, 7);
    await database.query("update payment_attempt set error = null, charge = 'unknown' where order_id = ?", [order.id]);
    fake.before = () => undefined;
    await check();
    expect((await reread()).state).toBe('pending');
  });
});

describe('a charge that certainly does not exist', () => {
  it('is tried again under its reference', async () => {
    accountId = await createBuyer(database);
    fake.fail('charge', new PaymentError('temporary', 'HTTP 429'));
    order = await startOrder(host, accountId, 7);
    fake.failures.clear();
    await check();
    expect(await reread()).toMatchObject({
      state: 'pending',
      attempt: { number: 1, charge: 'created', error: undefined },
    });
  });
});

describe('a sweep', () => {
  it('finds what the queue has lost', async () => {
    fake.pay(referenceOf(order));
    await due();
    await sweepPayments(host);
    expect((await reread()).state).toBe('paid');
  });

  it('of two instances checks each payment once', async () => {
    // Orders of the tests before this one may be due by now.
    await database.query('update payment_attempt set next_check_at = null');
    const orders = await Promise.all(
      Array.from({ length: 30 }, async () => startOrder(host, await createBuyer(database), 7)),
    );
    for (const one of orders) await due(referenceOf(one));
    fake.calls.length = 0;
    await Promise.all([sweepPayments(host), sweepPayments(host), checkOverduePayments(host, 10)]);
    expect(fake.calls.filter((call) => call === 'status')).toHaveLength(30);
  });

  it('expires orders that nothing follows any more', async () => {
    await database.query('update payment_attempt set next_check_at = null where order_id = ?', [order.id]);
    await pass();
    await database.query("update plan_order set expires_at = expires_at - interval '10 min' where id = ?", [order.id]);
    await sweepPayments(host);
    expect((await reread()).state).toBe('expired');
  });
});
