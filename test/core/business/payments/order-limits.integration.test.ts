import { describe, expect, it } from 'vitest';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { cancelOrder, checkOrderAsBuyer, renewCharge, startOrder } from '#core/business/payments/checkout.ts';
import { checkPayment } from '#core/business/payments/checks.ts';
import type { Order } from '#core/business/payments/order.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { settle } from '#core/business/payments/settle.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import { createBuyer, createPaymentHost, type PaymentHost, type PaymentSettings, referenceOf } from './fixture.ts';
import { useShop } from './use-shop.ts';

const plans = Array.from({ length: 12 }, (_, index) => ({ days: index + 1, price: 1_000 * (index + 1) }));
const hourMs = 3_600_000;

const shop = useShop();

const hostWith = (payments: PaymentSettings['payments']): PaymentHost =>
  createPaymentHost(shop.database, [shop.fake.provider], { plans, payments: { provider: 'fake', ...payments } });

/** As if the charges of an order had been made so much earlier. */
const age = ({ id }: Order, ms: number) =>
  shop.database.query(
    'update payment_attempt set created_at = created_at - make_interval(secs => ?::float8 / 1000) where order_id = ?',
    [ms, id],
  );

/** Orders a plan and cancels it. */
const buyAndCancel = async (host: PaymentHost, days: number, address?: string) =>
  cancelOrder(host, (await startOrder(host, shop.accountId, days, { address })).id);

const errorOf = (order: Promise<unknown>): Promise<CheckoutError> =>
  order.then(
    () => expect.fail('it was not refused'),
    (error: unknown) => (error instanceof CheckoutError ? error : Promise.reject(error as Error)),
  );

describe('charges of an account within an hour', () => {
  it('end the loop of buying and cancelling, with the time of the next one', async () => {
    const host = hostWith({ max_charges_per_hour: 3 });
    const first = await buyAndCancel(host, 1);
    await age(first, hourMs / 2);
    await buyAndCancel(host, 2);
    await buyAndCancel(host, 1);
    const { kind, retryAt, message } = await errorOf(startOrder(host, shop.accountId, 1));
    expect(kind).toBe('too_many_charges');
    expect(retryAt?.getTime()).toBeCloseTo(first.createdAt.getTime() + hourMs / 2, -4);
    expect(message).toContain(retryAt?.toISOString());
    expect(shop.fake.calls.filter((call) => call === 'charge')).toHaveLength(3);
  });

  it('may be made again once the oldest one is an hour old', async () => {
    const host = hostWith({ max_charges_per_hour: 2 });
    const first = await buyAndCancel(host, 1);
    await buyAndCancel(host, 1);
    await errorOf(startOrder(host, shop.accountId, 1));
    await age(first, hourMs);
    expect((await buyAndCancel(host, 1)).state).toBe('cancelled');
    await errorOf(startOrder(host, shop.accountId, 1));
  });

  it('are as many as the limit when ten tabs order at two instances', async () => {
    const hosts = [
      hostWith({ max_charges_per_hour: 4, max_open_orders: 20 }),
      hostWith({ max_charges_per_hour: 4, max_open_orders: 20 }),
    ] as const;
    const tabs = plans.slice(0, 10).map(({ days }) => startOrder(hosts[days % 2 === 0 ? 0 : 1], shop.accountId, days));
    const results = await Promise.allSettled(tabs);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    expect(shop.fake.calls.filter((call) => call === 'charge')).toHaveLength(4);
  });

  it('count those that make an expired order payable again', async () => {
    const host = hostWith({ max_charges_per_hour: 2 });
    const order = await startOrder(host, shop.accountId, 7);
    const expire = () => settle(host, 'fake', { ...shop.fake.evidence(referenceOf(order)), state: 'expired' });
    await expire();
    const again = await renewCharge(host, order.id);
    await settle(host, 'fake', { ...shop.fake.evidence(referenceOf(again)), state: 'expired' });
    expect(await errorOf(renewCharge(host, order.id))).toMatchObject({ kind: 'too_many_charges' });
  });

  it('do not count those that were paid', async () => {
    const host = hostWith({ max_charges_per_hour: 2 });
    for (const days of [1, 1, 1]) {
      const order = await startOrder(host, shop.accountId, days);
      shop.fake.pay(referenceOf(order));
      await settle(host, 'fake', shop.fake.evidence(referenceOf(order)));
    }
    expect((await startOrder(host, shop.accountId, 1)).state).toBe('pending');
  });

  it('count a charge once whose response was lost, and that was made anew', async () => {
    const host = hostWith({ max_charges_per_hour: 2 });
    shop.fake.fail('charge', new PaymentError('unknown', 'timeout'), true);
    const order = await startOrder(host, shop.accountId, 7);
    shop.fake.failures.clear();
    await shop.database.query(
      `update payment_attempt set next_check_at = clock_timestamp(), created_at = created_at - interval '1 min' where order_id = ?`,
      [order.id],
    );
    await checkPayment(host, referenceOf(order));
    expect((await checkOrderAsBuyer(host, order.id, 0)).attempt).toMatchObject({ number: 2, charge: 'created' });
    expect((await startOrder(host, shop.accountId, 1)).state).toBe('pending');
    expect(await errorOf(startOrder(host, shop.accountId, 2))).toMatchObject({ kind: 'too_many_charges' });
  });

  it('do not hide an order that is open', async () => {
    const host = hostWith({ max_charges_per_hour: 1 });
    const order = await startOrder(host, shop.accountId, 7);
    expect((await startOrder(host, shop.accountId, 7)).id).toBe(order.id);
  });

  it('are more when the operator allows more', async () => {
    await buyAndCancel(hostWith({ max_charges_per_hour: 1 }), 1);
    await errorOf(startOrder(hostWith({ max_charges_per_hour: 1 }), shop.accountId, 1));
    expect((await startOrder(hostWith({ max_charges_per_hour: 2 }), shop.accountId, 1)).state).toBe('pending');
  });
});

const refuseRecord = () => Promise.reject(new Error('accepts no terms'));
const limited = () => hostWith({ max_charges_per_hour_and_address: 2 });

describe('charges of a network within an hour', () => {
  it('are those of all its accounts, and of no other network', async () => {
    const host = limited();
    const [one, other, third] = [shop.accountId, await createBuyer(shop.database), await createBuyer(shop.database)];
    await startOrder(host, one, 1, { address: '2001:db8:1:2::1' });
    await startOrder(host, other, 1, { address: '2001:db8:1:2:ffff::9' });
    const { kind, message, retryAt } = await errorOf(startOrder(host, third, 1, { address: '2001:db8:1:2::77' }));
    expect(kind).toBe('too_many_charges');
    // Some of them may be paid.
    expect(message).toMatch(/^Your network has made 2 charges within an hour\. /);
    // Two an hour: the next one after half of it.
    expect(retryAt?.getTime()).toBeCloseTo(Date.now() + hourMs / 2, -4);
    expect((await startOrder(host, third, 1, { address: '2001:db8:1:3::77' })).state).toBe('pending');
  });

  it('take nothing for an order that is open, or that the account may not make', async () => {
    const host = hostWith({ max_charges_per_hour: 1, max_charges_per_hour_and_address: 2 });
    await startOrder(host, shop.accountId, 1, { address: '192.0.2.1' });
    await startOrder(host, shop.accountId, 1, { address: '192.0.2.1' });
    await errorOf(startOrder(host, shop.accountId, 2, { address: '192.0.2.1' }));
    expect((await startOrder(host, await createBuyer(shop.database), 1, { address: '192.0.2.1' })).state).toBe(
      'pending',
    );
  });

  it('take nothing for an order that a plugin refuses for what its buyer has sent', async () => {
    const host = limited();
    for (let round = 0; round < 5; round++)
      await expect(startOrder(host, shop.accountId, 1, { address: '192.0.2.1', record: refuseRecord })).rejects.toThrow(
        'accepts no terms',
      );
    expect((await startOrder(host, await createBuyer(shop.database), 1, { address: '192.0.2.1' })).state).toBe(
      'pending',
    );
  });

  it('are unlimited for a program, and while the shared state is unavailable', async () => {
    const host = limited();
    for (const days of [1, 2, 3]) expect((await startOrder(host, shop.accountId, days)).state).toBe('pending');
    const limiter = { ...new MemoryShared().limiter, take: () => Promise.reject(new SharedUnavailable()) };
    const away = Object.assign(limited(), { shared: { ...host.shared, limiter } });
    const buyer = await createBuyer(shop.database);
    for (const days of [1, 2, 3])
      expect((await startOrder(away, buyer, days, { address: '192.0.2.7' })).state).toBe('pending');
  });
});

describe('open orders of an account', () => {
  it('are as many as the operator allows, and the next one is possible when the first of them ends', async () => {
    const host = hostWith({ max_open_orders: 2 });
    const first = await startOrder(host, shop.accountId, 1);
    await startOrder(host, shop.accountId, 2);
    const { kind, retryAt } = await errorOf(startOrder(host, shop.accountId, 3));
    expect(kind).toBe('too_many_orders');
    expect(retryAt).toEqual(first.expiresAt);
    await cancelOrder(host, first.id);
    expect((await startOrder(host, shop.accountId, 3)).state).toBe('pending');
  });
});
