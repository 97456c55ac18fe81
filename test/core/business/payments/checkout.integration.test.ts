import { describe, expect, it, vi } from 'vitest';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { readStatus } from '#core/business/payments/ask-provider.ts';
import { chargeOrder } from '#core/business/payments/attempts.ts';
import {
  cancelOrder,
  checkOrderAsBuyer,
  renewCharge,
  quotePlan,
  startOrder,
} from '#core/business/payments/checkout.ts';
import { findSimulationCommand } from '#core/business/payments/connections.ts';
import { type OrderLine, readOrderLines } from '#core/business/payments/order-lines.ts';
import { listOrders, type Order } from '#core/business/payments/order.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { crc16 } from '#core/business/payments/qris.ts';
import { settle } from '#core/business/payments/settle.ts';
import { fakeQr } from '../../../support/fake-qr.ts';
import { createBuyer, createPaymentHost, referenceOf, timeHeld } from './fixture.ts';
import { useShop } from './use-shop.ts';

const shop = useShop();

const start = (days: number) => startOrder(shop.host, shop.accountId, days);
const settleNow = (order: Order) => settle(shop.host, 'fake', shop.fake.evidence(referenceOf(order)));

/** As if the last check had been some time ago. */
const forgetCheck = (order: Order) =>
  shop.database.query(
    `update payment_attempt set checked_at = checked_at - interval '1 min', created_at = created_at - interval '1 min'
     where order_id = ?`,
    [order.id],
  );

const line = (text: string) => ({ label: { en: 'Reference', id: 'Referensi' }, text: { en: text, id: text } });

describe('an order', () => {
  it('is a snapshot of the plan, with a charge to pay', async () => {
    expect(await start(7)).toMatchObject({
      accountId: shop.accountId,
      days: 7,
      price: 95_000,
      currency: 'IDR',
      label: 'week',
      limits: { limit: 5 },
      provider: 'fake',
      state: 'pending',
      code: expect.stringMatching(/^ORD-[0-9A-HJKMNP-TV-Z]{8}$/),
      attempt: { number: 1, charge: 'created', qr: expect.stringContaining('ORD-'), amount: 95_000 },
    });
  });

  it('keeps the lines that plugins record with it, as the last try has them', async () => {
    const placed: boolean[] = [];
    const place = (lines: readonly OrderLine[]) =>
      startOrder(shop.host, shop.accountId, 7, {
        record: async (_transaction, { isNew }) => {
          placed.push(isNew);
          return lines;
        },
      });
    const order = await place([line('one')]);
    expect(await readOrderLines(shop.database, order.id)).toEqual([line('one')]);
    expect((await place([line('two')])).id).toBe(order.id);
    expect(await readOrderLines(shop.database, order.id)).toEqual([line('two')]);
    await place([]);
    expect([await readOrderLines(shop.database, order.id), placed]).toEqual([[], [true, false, false]]);
  });

  it('is not placed where a record of a plugin fails', async () => {
    const placed = startOrder(shop.host, shop.accountId, 7, { record: () => Promise.reject(new Error('no')) });
    await expect(placed).rejects.toThrow('no');
    expect((await listOrders(shop.database, { accountId: shop.accountId }, undefined, 10)).orders).toEqual([]);
  });

  it('can be placed again while it is settled: neither waits for a lock that the other holds', async () => {
    for (let round = 0; round < 20; round++) {
      const buyer = await createBuyer(shop.database);
      const place = () => startOrder(shop.host, buyer, 7, { record: async () => [line(`${round}`)] });
      const order = await place();
      shop.fake.pay(referenceOf(order));
      const [again] = await Promise.all([place(), settleNow(order), place()]);
      expect(['pending', 'paid', 'created']).toContain(again.state);
    }
  });

  it('keeps its price when the plan gets another one', async () => {
    const order = await start(7);
    const dearer = createPaymentHost(shop.database, [shop.fake.provider], { plans: [{ days: 7, price: 120_000 }] });
    shop.fake.pay(referenceOf(order));
    expect((await checkOrderAsBuyer(dearer, order.id)).price).toBe(95_000);
    expect((await startOrder(dearer, shop.accountId, 7)).price).toBe(120_000);
  });

  it('expires by the clock of the database', async () => {
    const { createdAt, expiresAt } = await start(7);
    expect(expiresAt.getTime() - createdAt.getTime()).toBeGreaterThan(30 * 60_000 - 1_000);
    expect(expiresAt.getTime() - createdAt.getTime()).toBeLessThan(30 * 60_000 + 1_000);
  });

  it.each([-1, 1])('is the same on a machine whose clock is %d hour wrong', async (hours) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
    try {
      const order = await start(7);
      shop.fake.pay(referenceOf(order));
      await settleNow(order);
      const [row] = await shop.database.query<{ left: number; ahead: number }>(
        `select extract(epoch from o.expires_at - clock_timestamp())::float8 as left,
           extract(epoch from p.ends_at - clock_timestamp())::float8 as ahead
         from plan_order o join plan_period p on p.order_id = o.id where o.id = ?`,
        [order.id],
      );
      expect(row?.left).toBeCloseTo(30 * 60, -2);
      expect(row?.ahead).toBeCloseTo(7 * 86_400, -2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('of two tabs that buy at once is one order with one charge', async () => {
    const orders = await Promise.all(Array.from({ length: 8 }, () => start(7)));
    expect(new Set(orders.map(({ id }) => id)).size).toBe(1);
    expect(shop.fake.calls.filter((call) => call === 'charge')).toHaveLength(1);
  });

  it('is a new one after another amount was paid for the last', async () => {
    const first = await start(7);
    shop.fake.pay(referenceOf(first), { amount: 1_000, currency: 'IDR' });
    await settleNow(first);
    const second = await start(7);
    expect(second).toMatchObject({ state: 'pending', payments: [] });
    expect(second.id).not.toBe(first.id);
  });

  it('has its first check in the queue', async () => {
    const order = await start(7);
    expect(shop.host.enqueued).toEqual([
      { name: 'check-payment', data: { reference: referenceOf(order) }, delay: expect.closeTo(20, -1) },
    ]);
  });

  it('gives the provider the URL for notifications', async () => {
    const order = await start(7);
    expect(shop.fake.charges.get(referenceOf(order))?.request).toMatchObject({
      amount: 95_000,
      currency: 'IDR',
      description: 'Daypass 7 days',
      notificationUrl: 'https://gateway.example/hooks/fake',
      buyer: { name: 'Ani' },
    });
  });
});

describe('an order is refused', () => {
  it.each([['of a plan that does not exist', 5, 'unknown_plan']] as const)('%s', async (_, days, kind) => {
    await expect(start(days)).rejects.toMatchObject({ kind });
  });

  it('when nothing is sold', async () => {
    const closed = createPaymentHost(shop.database, []);
    await expect(startOrder(closed, shop.accountId, 7)).rejects.toMatchObject({ kind: 'no_provider' });
  });

  it('in a currency that the provider does not take', async () => {
    const dollars = createPaymentHost(shop.database, [shop.fake.provider], { currency: 'USD' });
    await expect(startOrder(dollars, shop.accountId, 7)).rejects.toMatchObject({ kind: 'no_provider' });
  });

  it('when the account would hold more than a year', async () => {
    await grantDays(shop.database, shop.accountId, { days: 340 });
    await expect(start(30)).rejects.toMatchObject({ kind: 'too_many_days' });
    expect((await start(7)).state).toBe('pending');
  });

  it('not for exactly a year', async () => {
    const yearly = createPaymentHost(shop.database, [shop.fake.provider], { plans: [{ days: 365, price: 1_500_000 }] });
    expect((await startOrder(yearly, shop.accountId, 365)).state).toBe('pending');
  });

  it('when it would with all open orders paid', async () => {
    await start(200);
    await grantDays(shop.database, shop.accountId, { days: 150 });
    await expect(start(30)).rejects.toMatchObject({ kind: 'too_many_days' });
  });

  it('when too many are open', async () => {
    const plans = [1, 2, 3, 4, 5, 6].map((days) => ({ days, price: 1_000 * days }));
    const many = createPaymentHost(shop.database, [shop.fake.provider], { plans });
    for (const { days } of plans.slice(0, 5)) await startOrder(many, shop.accountId, days);
    await expect(startOrder(many, shop.accountId, 6)).rejects.toMatchObject({ kind: 'too_many_orders' });
  });

  it('for a blocked account', async () => {
    await blockAccount(shop.database, shop.accountId, 'abuse');
    await expect(start(7)).rejects.toMatchObject({ kind: 'blocked' });
  });
});

describe('a charge', () => {
  it('that is rejected fails the order, which can be tried again', async () => {
    shop.fake.fail('charge', new PaymentError('rejected', 'channel is off'));
    const order = await start(7);
    expect(order).toMatchObject({ state: 'failed', attempt: { charge: 'rejected', error: 'channel is off' } });
    shop.fake.failures.clear();
    expect(await renewCharge(shop.host, order.id)).toMatchObject({ state: 'pending', attempt: { number: 2 } });
  });

  it('that certainly does not exist leaves the order open for another try', async () => {
    shop.fake.fail('charge', new PaymentError('temporary', 'too many requests', { retryAfter: 7 }));
    expect(await start(7)).toMatchObject({ state: 'created', attempt: { charge: 'none' } });
  });

  it.each([
    ['an error', new PaymentError('unknown', 'HTTP 500')],
    ['an answer that cannot be read', new SyntaxError('Unexpected token <')],
  ])('with %s may exist', async (_, error) => {
    shop.fake.fail('charge', error, true);
    expect(await start(7)).toMatchObject({ state: 'created', attempt: { charge: 'unknown', number: 1 } });
  });

  it('without anything to pay with may exist', async () => {
    shop.fake.connection.charge = () => Promise.resolve({ providerReference: 'x' });
    expect(await start(7)).toMatchObject({ state: 'created', attempt: { charge: 'unknown' } });
  });

  it('for less than the price is not shown', async () => {
    const total = { amount: 1, currency: 'IDR' };
    shop.fake.connection.charge = () => Promise.resolve({ providerReference: 'x', qr: 'QR', total });
    expect(await start(7)).toMatchObject({ attempt: { charge: 'unknown', qr: undefined } });
  });

  it.each([
    ['nothing that can be read', () => 'nonsense'],
    ['a broken checksum', (qr: string) => `${qr.slice(0, -4)}0000`],
    ['one rupiah', (_: string, reference: string) => fakeQr(reference, 1)],
    ['ten times the price', (_: string, reference: string) => fakeQr(reference, 950_000)],
    ['no amount', (qr: string) => resign(qr.replace('540595000', ''))],
    ['another currency', (qr: string) => resign(qr.replace('5303360', '5303840'))],
    ['a fee on top', (qr: string) => resign(qr.replace('5802ID', '55020256035005802ID'))],
  ])('whose QR code carries %s is not shown, and is flagged to the operator', async (_, falsify) => {
    shop.fake.qrOf = ({ reference, amount }) => falsify(fakeQr(reference, amount), reference);
    const order = await start(7);
    expect(order).toMatchObject({ state: 'failed', attempt: { charge: 'rejected', qr: undefined } });
    expect(order.flags).toMatchObject([{ kind: 'invalid_qr', subject: referenceOf(order) }]);
    expect(shop.fake.charges.get(referenceOf(order))?.cancels).toBe(1);
    shop.fake.qrOf = ({ reference, amount }) => fakeQr(reference, amount);
    expect(await renewCharge(shop.host, order.id)).toMatchObject({ state: 'pending', attempt: { number: 2 } });
  });

  it.each([
    ['a static code', (qr: string) => resign(qr.replace('010212', '010211'))],
    ['a fee without its indicator', (qr: string) => resign(qr.replace('5802ID', '56035005802ID'))],
  ])('whose QR code is %s of the right amount is shown, and is flagged to the operator', async (_, change) => {
    shop.fake.qrOf = ({ reference, amount }) => change(fakeQr(reference, amount));
    const order = await start(7);
    expect(order).toMatchObject({
      state: 'pending',
      attempt: { charge: 'created', qr: change(fakeQr(referenceOf(order), order.price)) },
    });
    expect(order.flags).toMatchObject([{ kind: 'unusual_qr', subject: referenceOf(order) }]);
  });

  it('in the test mode of its provider is open, and its placeholder is not read', async () => {
    shop.fake.qrOf = () => 'some-random-qr-string';
    Object.assign(shop.fake.connection, { simulation: ({ amount }: { amount: number }) => `pay ${amount}` });
    const order = await start(7);
    expect(order).toMatchObject({ state: 'pending', flags: [], attempt: { charge: 'created' } });
    expect(findSimulationCommand(shop.host, order)).toBe('pay 95000');
  });

  it('is not made after its order was cancelled', async () => {
    shop.fake.fail('charge', new PaymentError('temporary', 'no connection'));
    const order = await start(7);
    shop.fake.failures.clear();
    await cancelOrder(shop.host, order.id);
    await chargeOrder(shop.host, order.id);
    expect(shop.fake.calls).toEqual(['charge']);
  });

  it('whose QR code was not shown counts when it is paid nevertheless', async () => {
    shop.fake.qrOf = () => 'nonsense';
    const order = await start(7);
    shop.fake.pay(referenceOf(order));
    await settleNow(order);
    expect((await timeHeld(shop.database, shop.accountId)).periods).toBe(1);
  });

  it('that the provider refuses for its rate is made as soon as it takes calls again', async () => {
    shop.fake.fail(
      'charge',
      new PaymentError('temporary', 'too many requests', { retryAfter: 0.2, isRateLimited: true }),
    );
    const made = start(7);
    await vi.waitUntil(() => shop.fake.calls.length > 0);
    shop.fake.failures.clear();
    expect(await made).toMatchObject({ state: 'pending', attempt: { number: 1, charge: 'created' } });
  });

  it('with a fee of the provider is compared with the total', async () => {
    const total = { amount: 95_700, currency: 'IDR' };
    shop.fake.connection.charge = ({ reference }) =>
      Promise.resolve({ providerReference: `F-${reference}`, qr: fakeQr(reference, total.amount), total });
    const order = await start(7);
    const evidence = { reference: referenceOf(order), providerReference: `F-${referenceOf(order)}`, raw: null };
    await settle(shop.host, 'fake', { ...evidence, state: 'paid', paid: total });
    expect((await timeHeld(shop.database, shop.accountId)).periods).toBe(1);
  });
});

describe('another charge', () => {
  it('of an expired order keeps price and code, and has another reference', async () => {
    const order = await start(7);
    shop.fake.end(referenceOf(order), 'expired');
    await settleNow(order);
    const again = await renewCharge(shop.host, order.id);
    expect(again).toMatchObject({ id: order.id, code: order.code, state: 'pending', attempt: { number: 2 } });
    expect(again.attempt?.reference).toBe(`${order.code}.2`);
    expect(again.expiresAt.getTime()).toBeGreaterThan(order.expiresAt.getTime());
  });

  it('is not made for an order that turns out to be paid', async () => {
    const order = await start(7);
    await settle(shop.host, 'fake', { ...shop.fake.evidence(referenceOf(order)), state: 'expired' });
    shop.fake.pay(referenceOf(order));
    await forgetCheck(order);
    expect(await renewCharge(shop.host, order.id)).toMatchObject({ state: 'paid', isLate: true });
  });

  it('is not made for an open order', async () => {
    const order = await start(7);
    expect((await renewCharge(shop.host, order.id)).attempt?.number).toBe(1);
  });

  it('is refused when the plan costs something else now', async () => {
    const order = await start(7);
    shop.fake.end(referenceOf(order), 'expired');
    await settleNow(order);
    const dearer = createPaymentHost(shop.database, [shop.fake.provider], { plans: [{ days: 7, price: 120_000 }] });
    await expect(renewCharge(dearer, order.id)).rejects.toMatchObject({ kind: 'plan_changed' });
  });

  it('is refused for a cancelled order and for one that does not exist', async () => {
    const order = await start(7);
    await cancelOrder(shop.host, order.id);
    await expect(renewCharge(shop.host, order.id)).rejects.toMatchObject({ kind: 'not_open' });
    await expect(renewCharge(shop.host, shop.accountId)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('asked for twice at once is one', async () => {
    const order = await start(7);
    shop.fake.end(referenceOf(order), 'expired');
    await settleNow(order);
    const again = await Promise.all([renewCharge(shop.host, order.id), renewCharge(shop.host, order.id)]);
    expect(again.map(({ attempt }) => attempt?.number)).toEqual([2, 2]);
    expect(shop.fake.charges.size).toBe(2);
  });

  it('asked for twice at once is one at a provider that takes every charge', async () => {
    shop.fake.takesEveryCharge = true;
    const order = await start(7);
    shop.fake.end(referenceOf(order), 'expired');
    await settleNow(order);
    const another = Promise.withResolvers<unknown>();
    let charges = 0;
    shop.fake.before = (call) => {
      if (call !== 'charge') return undefined;
      if (++charges === 2) another.resolve(undefined);
      return another.promise as Promise<void>;
    };
    const tabs = [renewCharge(shop.host, order.id), renewCharge(shop.host, order.id)];
    // The tab that charges waits for the other one: for its charge, or for it to leave that to this one.
    void Promise.any(tabs).then(another.resolve);
    await Promise.all(tabs);
    expect(shop.fake.calls.filter((call) => call === 'charge')).toHaveLength(2);
  });
});

describe('a charge that is answered after another one for the same reference', () => {
  it('is not shown: its payment would be taken for that of another order', async () => {
    shop.fake.connection.charge = async ({ reference, amount }) => {
      const evidence = { reference, providerReference: 'first', state: 'pending', raw: {} } as const;
      await settle(shop.host, 'fake', evidence);
      return { providerReference: 'second', qr: fakeQr(reference, amount) };
    };
    expect(await start(7)).toMatchObject({ attempt: { providerReference: 'first', qr: undefined } });
  });

  it('fails nothing when its QR code lies: the first charge can be paid', async () => {
    shop.fake.connection.charge = async ({ reference }) => {
      const evidence = { reference, providerReference: `first ${reference}`, state: 'pending', raw: {} } as const;
      await settle(shop.host, 'fake', evidence);
      return { providerReference: `second ${reference}`, qr: 'nonsense' };
    };
    const order = await start(7);
    expect(order.attempt).toMatchObject({ providerReference: `first ${referenceOf(order)}`, error: undefined });
    expect(order.attempt?.charge).not.toBe('rejected');
    expect(shop.fake.calls).not.toContain('cancel');
    expect(order.state).not.toBe('failed');
    expect(order.flags).toEqual([]);
  });
});

describe('cancelling', () => {
  it('ends the charge at the provider', async () => {
    const order = await start(7);
    expect((await cancelOrder(shop.host, order.id)).state).toBe('cancelled');
    expect(shop.fake.charges.get(referenceOf(order))?.state).toBe('failed');
  });

  it('finds out that the order has been paid', async () => {
    const order = await start(7);
    shop.fake.pay(referenceOf(order));
    expect(await cancelOrder(shop.host, order.id)).toMatchObject({ state: 'paid', isLate: true });
  });

  it('works while the provider does not respond', async () => {
    const order = await start(7);
    shop.fake.fail('cancel');
    expect((await cancelOrder(shop.host, order.id)).state).toBe('cancelled');
  });

  it('does nothing to a paid order', async () => {
    const order = await start(7);
    shop.fake.pay(referenceOf(order));
    await settleNow(order);
    expect((await cancelOrder(shop.host, order.id)).state).toBe('paid');
    expect(shop.fake.calls).not.toContain('cancel');
  });
});

describe('checking now', () => {
  it('activates what has been paid', async () => {
    const order = await start(7);
    shop.fake.pay(referenceOf(order));
    await forgetCheck(order);
    expect((await checkOrderAsBuyer(shop.host, order.id)).state).toBe('paid');
  });

  it('asks the provider once in five seconds, however many ask', async () => {
    const order = await start(7);
    await forgetCheck(order);
    await Promise.all(Array.from({ length: 20 }, () => checkOrderAsBuyer(shop.host, order.id)));
    expect(shop.fake.calls.filter((call) => call === 'status')).toHaveLength(1);
  });

  it.each(['rejected', 'none'])('does not ask about a charge that does not exist (%s)', async (charge) => {
    const order = await start(7);
    await shop.database.query('update payment_attempt set charge = ? where order_id = ?', [charge, order.id]);
    await forgetCheck(order);
    await checkOrderAsBuyer(shop.host, order.id);
    expect(shop.fake.calls).not.toContain('status');
  });

  it('changes nothing when the provider fails', async () => {
    const order = await start(7);
    await forgetCheck(order);
    shop.fake.fail('status', new Error(`socket hang up ${'x'.repeat(2_000)}`));
    const { state, attempt } = await checkOrderAsBuyer(shop.host, order.id);
    expect([state, attempt?.error]).toEqual(['pending', `socket hang up ${'x'.repeat(985)}`]);
  });
});

describe('the fifth call of a moment waits for its turn', () => {
  it.each([
    ['that the provider documents', 1, undefined],
    ['that the operator sets in its place', 10_000, 1],
  ])('at a rate of one a second %s', async (_title, callsPerSecond, set) => {
    const provider = { ...shop.fake.provider, connect: () => ({ ...shop.fake.connection, callsPerSecond }) };
    const payments = { provider: 'fake', order_minutes: 30, ...(set !== undefined && { calls_per_second: set }) };
    const slow = createPaymentHost(shop.database, [provider], { payments });
    const order = await startOrder(slow, shop.accountId, 7);
    const charge = { reference: referenceOf(order), providerReference: undefined };
    const began = performance.now();
    for (let call = 0; call < 5; call++) await readStatus(slow, 'fake', charge, 'buyer');
    expect(performance.now() - began).toBeGreaterThan(900);
  });
});

describe('a quote', () => {
  it('begins when the last period of the account ends', async () => {
    const { endsAt } = await grantDays(shop.database, shop.accountId, { days: 3 });
    const { startsAt, endsAt: quoted, price, currency } = await quotePlan(shop.host, shop.accountId, 7);
    expect(startsAt).toEqual(endsAt);
    expect(quoted.getTime() - startsAt.getTime()).toBe(7 * 86_400_000);
    expect([price, currency]).toEqual([95_000, 'IDR']);
  });
});

describe('the orders of an account', () => {
  it('are its own', async () => {
    await start(7);
    const other = await createBuyer(shop.database);
    expect((await listOrders(shop.database, { accountId: other }, undefined, 10)).orders).toEqual([]);
  });
});

/** The payload with the checksum of its content. */
function resign(payload: string): string {
  const signed = payload.slice(0, -4);
  return signed + crc16(signed);
}
