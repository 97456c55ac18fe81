import { beforeEach, describe, expect, it } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { checkOverduePayments, checkPayment } from '#core/business/payments/checks.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { settle } from '#core/business/payments/settle.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
import { fakeQr } from '../../../support/fake-qr.ts';
import { createBuyer, createPaymentHost, referenceOf, timeHeld } from './fixture.ts';
import { useShopWithOrder } from './use-shop.ts';

const shop = useShopWithOrder();

const due = (reference = referenceOf(shop.order)) =>
  shop.database.query('update payment_attempt set next_check_at = clock_timestamp() where reference = ?', [reference]);
const pass = () =>
  shop.database.query(
    `update plan_order set created_at = created_at - interval '31 min', expires_at = expires_at - interval '31 min' where id = ?`,
    [shop.order.id],
  );
const passDays = (days: number) =>
  shop.database.query(
    `update plan_order set created_at = created_at - interval '${days} days', expires_at = expires_at - interval '${days} days'
     where id = ?`,
    [shop.order.id],
  );
const check = async () => {
  await due();
  await checkPayment(shop.host, referenceOf(shop.order));
};
const attempt = async (reference = referenceOf(shop.order)) =>
  (
    await shop.database.query<{ delay: number | null; failures: number; checks: number; error: string | null }>(
      `select extract(epoch from next_check_at - clock_timestamp())::float8 as delay, failures, checks, error
       from payment_attempt where reference = ?`,
      [reference],
    )
  )[0];

describe('a check', () => {
  it('activates what has been paid, and is the last one', async () => {
    shop.fake.pay(referenceOf(shop.order));
    await check();
    expect((await shop.reread()).state).toBe('paid');
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
    expect(shop.host.enqueued.at(-1)).toMatchObject({ name: 'check-payment', delay: expect.closeTo(delay ?? 0, -1) });
  });

  it('is made by one of many workers', async () => {
    await due();
    await Promise.all(Array.from({ length: 10 }, () => checkPayment(shop.host, referenceOf(shop.order))));
    expect(shop.fake.calls.filter((call) => call === 'status')).toHaveLength(1);
  });

  it('that comes too early does nothing', async () => {
    await checkPayment(shop.host, referenceOf(shop.order));
    expect(shop.fake.calls).toEqual(['charge']);
  });

  it('of a worker that has died is made by another one', async () => {
    shop.fake.pay(referenceOf(shop.order));
    shop.fake.before = () => Promise.reject(new TypeError('the process has died'));
    await due();
    await checkPayment(shop.host, referenceOf(shop.order)).catch(() => undefined);
    shop.fake.before = () => undefined;
    await check();
    expect((await shop.reread()).state).toBe('paid');
  });
});

describe('a provider that does not answer properly never changes an order', () => {
  it.each([
    ['answers 500', new PaymentError('unknown', 'HTTP 500')],
    ['refuses the connection', new PaymentError('temporary', 'ECONNREFUSED')],
    ['sends HTML', new SyntaxError('Unexpected token <')],
    ['rejects the question', new PaymentError('rejected', 'HTTP 400')],
  ])('when it %s', async (_, error) => {
    shop.fake.fail('status', error);
    await pass();
    await check();
    expect(await shop.reread()).toMatchObject({ state: 'pending', attempt: { error: error.message } });
    const { failures, delay } = (await attempt()) ?? {};
    expect(failures).toBe(1);
    expect(delay).toBeLessThan(6);
  });

  it('when it answers about another charge', async () => {
    shop.fake.connection.status = () =>
      Promise.resolve({ ...shop.fake.evidence(referenceOf(shop.order)), reference: 'ORD-OTHER.1' });
    await check();
    expect((await shop.reread()).attempt?.error).toContain('another charge');
  });

  it('and is asked less and less often', async () => {
    shop.fake.fail('status');
    await shop.database.query('update payment_attempt set failures = 20 where reference = ?', [
      referenceOf(shop.order),
    ]);
    await check();
    expect((await attempt())?.delay).toBeGreaterThan(140);
    expect((await attempt())?.delay).toBeLessThan(301);
    shop.fake.failures.clear();
    await check();
    expect((await attempt())?.failures).toBe(0);
  });
});

describe('a provider that has not answered for a week after the expiry', () => {
  beforeEach(() => shop.fake.fail('status'));

  it('is not asked again, and the order expires', async () => {
    await passDays(8);
    await check();
    expect(await shop.reread()).toMatchObject({ state: 'expired', attempt: { error: 'HTTP 500' } });
    expect((await attempt())?.delay).toBeNull();
  });

  it('is asked again until then', async () => {
    await passDays(6);
    await check();
    expect((await shop.reread()).state).toBe('pending');
    expect((await attempt())?.delay).toBeGreaterThan(0);
  });
});

describe('at the expiry', () => {
  beforeEach(pass);

  it('the charge is cancelled, and then the order expires', async () => {
    await check();
    expect((await shop.reread()).state).toBe('expired');
    expect(shop.fake.charges.get(referenceOf(shop.order))?.cancels).toBe(1);
  });

  it('an order expires when its provider cannot cancel', async () => {
    const { cancel: _, ...connection } = shop.fake.connection;
    shop.host = createPaymentHost(shop.database, [{ ...shop.fake.provider, connect: () => connection }]);
    await check();
    expect((await shop.reread()).state).toBe('expired');
    const events = await shop.database.query(
      `select 1 from account_event where name = 'order.expired' and payload ->> 'orderId' = ?`,
      [shop.order.id],
    );
    expect(events).toHaveLength(1);
  });

  it('an order expires when cancelling fails and it is not paid', async () => {
    shop.fake.fail('cancel', new PaymentError('rejected', 'too late'));
    await check();
    expect((await shop.reread()).state).toBe('expired');
  });

  it('a payment at the last moment activates', async () => {
    shop.fake.before = (call) => {
      if (call === 'cancel') shop.fake.pay(referenceOf(shop.order));
    };
    await check();
    expect(await shop.reread()).toMatchObject({ state: 'paid', isLate: false });
  });

  it('the checks continue, and a late payment activates', async () => {
    await check();
    expect((await attempt())?.delay).not.toBeNull();
    shop.fake.pay(referenceOf(shop.order));
    await check();
    expect(await shop.reread()).toMatchObject({ state: 'paid', isLate: true });
    expect((await timeHeld(shop.database, shop.accountId)).periods).toBe(1);
  });

  it('the checks end after a day', async () => {
    await shop.database.query("update plan_order set expires_at = expires_at - interval '1 day' where id = ?", [
      shop.order.id,
    ]);
    await check();
    expect((await attempt())?.delay).toBeNull();
  });
});

describe('a charge whose outcome is unknown', () => {
  beforeEach(async () => {
    shop.accountId = await createBuyer(shop.database);
  });

  it('is read, and followed by another attempt when it does not exist', async () => {
    shop.fake.fail('charge');
    shop.order = await startOrder(shop.host, shop.accountId, 7);
    shop.fake.failures.clear();
    await check();
    expect(await shop.reread()).toMatchObject({ state: 'pending', attempt: { number: 2, charge: 'created' } });
    expect(shop.fake.calls.slice(-2)).toEqual(['status', 'charge']);
  });

  it('is cancelled if it exists, because no buyer sees its code', async () => {
    shop.fake.fail('charge', new PaymentError('unknown', 'timeout'), true);
    shop.order = await startOrder(shop.host, shop.accountId, 7);
    shop.fake.failures.clear();
    await check();
    expect(shop.fake.charges.get(referenceOf(shop.order))?.state).toBe('failed');
    expect(await shop.reread()).toMatchObject({ state: 'pending', attempt: { number: 2, charge: 'created' } });
  });

  it('is cancelled as well when a notification or the buyer has found it first', async () => {
    shop.fake.fail('charge', new PaymentError('unknown', 'timeout'), true);
    shop.order = await startOrder(shop.host, shop.accountId, 7);
    shop.fake.failures.clear();
    await settle(shop.host, 'fake', shop.fake.evidence(referenceOf(shop.order)));
    expect(await shop.reread()).toMatchObject({ state: 'pending', attempt: { charge: 'created', qr: undefined } });
    await shop.database.query(
      "update payment_attempt set created_at = created_at - interval '20 s' where order_id = ?",
      [shop.order.id],
    );
    await check();
    expect(shop.fake.charges.get(`${shop.order.code}.1`)?.state).toBe('failed');
    expect(await shop.reread()).toMatchObject({
      state: 'pending',
      attempt: { number: 2, qr: expect.stringContaining(`${shop.order.code}.2`) },
    });
  });

  it('is followed by an attempt that is charged later where it could not be at once, or its process ended', async () => {
    shop.fake.fail('charge', new PaymentError('unknown', 'timeout'), true);
    shop.order = await startOrder(shop.host, shop.accountId, 7);
    shop.fake.fail('charge', new PaymentError('temporary', 'HTTP 503'));
    await check();
    expect(await shop.reread()).toMatchObject({
      state: 'pending',
      attempt: { number: 2, charge: 'none', qr: undefined },
    });
    shop.fake.failures.clear();
    shop.order = await shop.reread();
    await check();
    expect(await shop.reread()).toMatchObject({
      state: 'pending',
      attempt: { number: 2, charge: 'created', qr: expect.stringContaining(`${shop.order.code}.2`) },
    });
  });

  it('has its answer awaited before another attempt follows it', async () => {
    shop.fake.connection.charge = async ({ reference }) => {
      const evidence = { reference, providerReference: `T-${reference}`, state: 'pending', raw: {} } as const;
      await settle(shop.host, 'fake', evidence);
      shop.fake.connection.status = () => Promise.resolve(evidence);
      await due(reference);
      await checkPayment(shop.host, reference);
      return { providerReference: `T-${reference}`, qr: fakeQr(reference, shop.order.price) };
    };
    shop.order = await startOrder(shop.host, shop.accountId, 7);
    expect(await shop.reread()).toMatchObject({
      state: 'pending',
      attempt: { number: 1, qr: expect.stringContaining(shop.order.code) },
    });
  });

  it('activates when it turns out to be paid', async () => {
    shop.fake.fail('charge', new PaymentError('unknown', 'timeout'), true);
    shop.order = await startOrder(shop.host, shop.accountId, 7);
    shop.fake.failures.clear();
    shop.fake.pay(referenceOf(shop.order));
    await check();
    expect(await shop.reread()).toMatchObject({ state: 'paid', attempt: { number: 1 } });
  });

  it('is not followed by another attempt while its status cannot be read', async () => {
    shop.fake.fail('charge');
    shop.order = await startOrder(shop.host, shop.accountId, 7);
    shop.fake.fail('status');
    await check();
    expect(await shop.reread()).toMatchObject({ state: 'created', attempt: { number: 1 } });
  });

  it('of a process that died before it was recorded is found by the schedule', async () => {
    shop.fake.before = () => Promise.reject(new TypeError('killed'));
    shop.order = await startOrder(shop.host, shop.accountId, 7);
    await shop.database.query("update payment_attempt set error = null, charge = 'unknown' where order_id = ?", [
      shop.order.id,
    ]);
    shop.fake.before = () => undefined;
    await check();
    expect((await shop.reread()).state).toBe('pending');
  });
});

describe('a charge that certainly does not exist', () => {
  it('is tried again under its reference', async () => {
    shop.accountId = await createBuyer(shop.database);
    shop.fake.fail('charge', new PaymentError('temporary', 'HTTP 429'));
    shop.order = await startOrder(shop.host, shop.accountId, 7);
    shop.fake.failures.clear();
    await check();
    expect(await shop.reread()).toMatchObject({
      state: 'pending',
      attempt: { number: 1, charge: 'created', error: undefined },
    });
  });
});

describe('a sweep', () => {
  it('finds what the queue has lost', async () => {
    shop.fake.pay(referenceOf(shop.order));
    await due();
    await sweepPayments(shop.host);
    expect((await shop.reread()).state).toBe('paid');
  });

  it('of two instances checks each payment once', async () => {
    // Orders of the tests before this one may be due by now.
    await shop.database.query('update payment_attempt set next_check_at = null');
    const orders = await Promise.all(
      Array.from({ length: 30 }, async () => startOrder(shop.host, await createBuyer(shop.database), 7)),
    );
    for (const one of orders) await due(referenceOf(one));
    shop.fake.calls.length = 0;
    await Promise.all([sweepPayments(shop.host), sweepPayments(shop.host), checkOverduePayments(shop.host, 10)]);
    expect(shop.fake.calls.filter((call) => call === 'status')).toHaveLength(30);
  });

  it('expires orders that nothing follows any more', async () => {
    await shop.database.query('update payment_attempt set next_check_at = null where order_id = ?', [shop.order.id]);
    await pass();
    await shop.database.query("update plan_order set expires_at = expires_at - interval '10 min' where id = ?", [
      shop.order.id,
    ]);
    await sweepPayments(shop.host);
    expect((await shop.reread()).state).toBe('expired');
  });
});
