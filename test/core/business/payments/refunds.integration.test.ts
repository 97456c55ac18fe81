import { beforeEach, describe, expect, it } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { resolveFlag } from '#core/business/payments/flags.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { settleRefund } from '#core/business/payments/refund-status.ts';
import { refundOrder } from '#core/business/payments/refunds.ts';
import { settle } from '#core/business/payments/settle.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
import { referenceOf, timeHeld } from './fixture.ts';
import { useShopWithOrder } from './use-shop.ts';

const shop = useShopWithOrder();
beforeEach(async () => {
  shop.fake.pay(referenceOf(shop.order));
  await settle(shop.host, 'fake', shop.fake.evidence(referenceOf(shop.order)));
});

const refund = async (isManual = false) => {
  await refundOrder(shop.host, shop.order.id, { reason: 'asked for', isManual });
  return shop.reread();
};
const makeDue = () =>
  shop.database.query('update refund set next_check_at = clock_timestamp() where next_check_at is not null');

describe('a refund', () => {
  it('that the provider confirms at once ends what is left of the order', async () => {
    expect(await refund()).toMatchObject({
      state: 'refunded',
      refunds: [{ key: `${shop.order.code}-R1`, amount: 95_000, state: 'done', isManual: false, reason: 'asked for' }],
    });
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBeLessThan(60);
  });

  it('by hand asks no provider', async () => {
    expect(await refund(true)).toMatchObject({ state: 'refunded', refunds: [{ state: 'done', isManual: true }] });
    expect(shop.fake.calls).not.toContain('refund');
  });

  it('that is pending ends no period until the provider confirms it', async () => {
    shop.fake.refundState = 'pending';
    expect(await refund()).toMatchObject({ state: 'paid', refunds: [{ state: 'sent' }] });
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBe(7 * 86_400);
    shop.fake.end(referenceOf(shop.order), 'refunded');
    await makeDue();
    await sweepPayments(shop.host);
    expect(await shop.reread()).toMatchObject({ state: 'refunded', refunds: [{ state: 'done' }] });
  });

  it('that fails flags the order, which stays paid, and can be tried again', async () => {
    shop.fake.fail('refund', new PaymentError('rejected', 'the window is over'));
    expect(await refund()).toMatchObject({
      state: 'paid',
      refunds: [{ state: 'failed' }],
      flags: [{ kind: 'refund_failed', subject: `${shop.order.code}-R1` }],
    });
    shop.fake.failures.clear();
    expect((await refund()).refunds.map(({ key, state }) => [key, state])).toEqual([
      [`${shop.order.code}-R1`, 'failed'],
      [`${shop.order.code}-R2`, 'done'],
    ]);
  });

  it('whose outcome is unknown is repeated under the same key', async () => {
    shop.fake.fail('refund', new PaymentError('unknown', 'timeout'), true);
    expect(await refund()).toMatchObject({ refunds: [{ state: 'asked' }] });
    shop.fake.failures.clear();
    await makeDue();
    await sweepPayments(shop.host);
    expect((await shop.reread()).state).toBe('refunded');
    // The sweep repeats what other tests have left pending as well.
    expect([...shop.fake.refunds.keys()].filter((key) => key.startsWith(shop.order.code))).toEqual([
      `${shop.order.code}-R1`,
    ]);
  });

  it('asked for ten times at once is one', async () => {
    await Promise.allSettled(Array.from({ length: 10 }, () => refund()));
    expect((await shop.reread()).refunds).toHaveLength(1);
    expect(shop.fake.refunds.size).toBe(1);
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBeLessThan(60);
  });

  it('asked for ten times at once is one at a provider that refuses the second', async () => {
    shop.fake.refusesRepeatedRefunds = true;
    const another = Promise.withResolvers<unknown>();
    shop.fake.before = (call) => {
      if (call !== 'refund') return undefined;
      if (shop.fake.calls.filter((one) => one === 'refund').length > 1) another.resolve(undefined);
      return another.promise as Promise<void>;
    };
    const clicks = Array.from({ length: 10 }, () => refund());
    // The one that asks waits for another one: for its request, or for it to leave that to this one.
    void Promise.any(clicks).then(another.resolve);
    await Promise.allSettled(clicks);
    expect(shop.fake.calls.filter((call) => call === 'refund')).toHaveLength(1);
    expect(await shop.reread()).toMatchObject({ state: 'refunded', flags: [], refunds: [{ state: 'done' }] });
  });

  it('whose answer was lost has not failed when its repetition is refused', async () => {
    shop.fake.refusesRepeatedRefunds = true;
    shop.fake.fail('refund', new PaymentError('unknown', 'timeout'), true);
    await refund();
    shop.fake.failures.clear();
    await makeDue();
    await sweepPayments(shop.host);
    expect(await shop.reread()).toMatchObject({ state: 'refunded', flags: [], refunds: [{ state: 'done' }] });
  });

  it('that is rejected has not failed until the provider reports its status', async () => {
    shop.fake.fail('refund', new PaymentError('rejected', 'REFUND_IN_PROGRESS'), true);
    shop.fake.fail('status', new PaymentError('temporary', 'HTTP 500'));
    expect(await refund()).toMatchObject({ state: 'paid', flags: [], refunds: [{ state: 'asked' }] });
  });

  it('that fails by a mistake of the code is reported as that, and is no failure of the provider', async () => {
    const ask = shop.fake.connection.refund;
    Object.assign(shop.fake.connection, { refund: () => Promise.resolve(undefined) });
    await expect(refund()).rejects.toThrow(TypeError);
    expect(await shop.database.query('select state, failures from refund where order_id = ?', [shop.order.id])).toEqual(
      [{ state: 'asked', failures: 0 }],
    );
    Object.assign(shop.fake.connection, { refund: ask });
    await makeDue();
    await sweepPayments(shop.host);
    expect((await shop.reread()).state).toBe('refunded');
  });

  it('that is refused while the provider lists it as pending stays pending', async () => {
    shop.fake.connection.refundStatus = ({ key }) => Promise.resolve({ state: 'pending', raw: { key } });
    shop.fake.fail('refund', new PaymentError('rejected', 'REFUND_IN_PROGRESS'));
    expect(await refund()).toMatchObject({ state: 'paid', flags: [], refunds: [{ state: 'sent' }] });
  });

  it('that is refused and not listed has failed', async () => {
    shop.fake.connection.refundStatus = () => Promise.resolve({ state: 'unknown', raw: {} });
    shop.fake.fail('refund', new PaymentError('rejected', 'the window is over'));
    expect(await refund()).toMatchObject({ flags: [{ kind: 'refund_failed' }], refunds: [{ state: 'failed' }] });
  });

  it('that the provider does not list for a week has failed', async () => {
    shop.fake.refundState = 'pending';
    await refund();
    shop.fake.connection.refundStatus = () => Promise.resolve({ state: 'unknown', raw: {} });
    await makeDue();
    await sweepPayments(shop.host);
    expect(await shop.reread()).toMatchObject({ flags: [], refunds: [{ state: 'sent' }] });
    await shop.database.query("update refund set created_at = created_at - interval '8 days' where order_id = ?", [
      shop.order.id,
    ]);
    await makeDue();
    await sweepPayments(shop.host);
    expect(await shop.reread()).toMatchObject({ flags: [{ kind: 'refund_failed' }], refunds: [{ state: 'failed' }] });
  });

  it('publishes the amount, whether it is partial, and what the provider returned in addition', async () => {
    shop.fake.refundState = 'pending';
    await refundOrder(shop.host, shop.order.id, { reason: 'part', isManual: false, amount: 30_000 });
    const events = () =>
      shop.database.query(
        "select payload from account_event where name = 'payment.refunded' and payload ->> 'orderId' = ?",
        [shop.order.id],
      );
    expect(await events()).toEqual([]);
    shop.fake.end(referenceOf(shop.order), 'refunded');
    await makeDue();
    await sweepPayments(shop.host);
    await settle(shop.host, 'fake', shop.fake.evidence(referenceOf(shop.order)));
    const about = { orderId: shop.order.id, accountId: shop.accountId, currency: 'IDR' };
    expect(await events()).toEqual([
      { payload: { ...about, refund: `${shop.order.code}-R1`, amount: 30_000 } },
      { payload: { ...about, refund: `${shop.order.code}-R2`, amount: 65_000 } },
    ]);
  });

  it('is an event, once, however it was confirmed', async () => {
    const events = () =>
      shop.database.query(
        "select payload from account_event where name = 'order.refunded' and payload ->> 'orderId' = ?",
        [shop.order.id],
      );
    await refund();
    await settle(shop.host, 'fake', shop.fake.evidence(referenceOf(shop.order)));
    expect(await events()).toEqual([{ payload: { orderId: shop.order.id, accountId: shop.accountId } }]);

    shop.order = await startOrder(shop.host, shop.accountId, 1);
    shop.fake.pay(referenceOf(shop.order));
    await settle(shop.host, 'fake', shop.fake.evidence(referenceOf(shop.order)));
    shop.fake.end(referenceOf(shop.order), 'refunded');
    await settle(shop.host, 'fake', shop.fake.evidence(referenceOf(shop.order)));
    expect(await events()).toHaveLength(1);
  });

  it('of slow providers does not hold up the others', async () => {
    shop.fake.fail('refund', new PaymentError('temporary', 'HTTP 429'));
    await refund();
    const other = await startOrder(shop.host, shop.accountId, 1);
    shop.fake.pay(referenceOf(other));
    await settle(shop.host, 'fake', shop.fake.evidence(referenceOf(other)));
    await refundOrder(shop.host, other.id, { reason: '', isManual: false });
    shop.fake.failures.clear();
    await makeDue();
    const both = Promise.withResolvers<void>();
    let running = 0;
    shop.fake.before = async (call) => {
      if (call !== 'refund') return;
      if (++running === 2) both.resolve();
      await both.promise;
    };
    await sweepPayments(shop.host);
    expect((await shop.reread()).state).toBe('refunded');
    expect((await readOrder(shop.database, { id: other.id }))?.state).toBe('refunded');
  });

  it('is what the notification that completes it is listed as, also of a part', async () => {
    const reference = referenceOf(shop.order);
    const [first, second] = [30_000, 65_000].map((amount, index) => ({
      id: `rf-${index}`,
      key: undefined,
      amount,
      state: 'done' as const,
    }));
    const report = (refunds: unknown) =>
      settle(shop.host, 'fake', { ...shop.fake.evidence(reference), refunds } as never);
    expect(await report([first])).toBe('refunded');
    expect(await report([first])).toBe('unchanged');
    expect(await report([first, second])).toBe('refunded');
    expect((await shop.reread()).state).toBe('refunded');
  });

  it('reports to its caller whether the money has been returned since', async () => {
    shop.fake.refundState = 'pending';
    await refund();
    const key = `${shop.order.code}-R1`;
    expect(await settleRefund(shop.host, key)).toBe(false);
    shop.fake.end(referenceOf(shop.order), 'refunded');
    expect(await settleRefund(shop.host, key)).toBe(true);
    expect(await settleRefund(shop.host, key)).toBe(false);
  });

  it('confirmed by a notification and by its answer ends the period once', async () => {
    shop.fake.before = async (call) => {
      if (call === 'refund')
        await settle(shop.host, 'fake', { ...shop.fake.evidence(referenceOf(shop.order)), state: 'refunded' });
    };
    await refund();
    expect(await shop.reread()).toMatchObject({ state: 'refunded', refunds: [{ state: 'done' }] });
    expect(await shop.database.query('select 1 from plan_period where order_id = ?', [shop.order.id])).toHaveLength(2);
  });

  it('is refused for an order that is not paid', async () => {
    const open = await startOrder(shop.host, shop.accountId, 1);
    await expect(refundOrder(shop.host, open.id, { reason: '', isManual: true })).rejects.toMatchObject({
      kind: 'nothing_to_refund',
    });
    await expect(refundOrder(shop.host, shop.accountId, { reason: '', isManual: true })).rejects.toMatchObject({
      kind: 'not_found',
    });
  });
});

describe('a flag', () => {
  it('of another amount cancels the order when it is resolved, unless a new charge was made since', async () => {
    const states = [];
    for (const isCharged of [false, true]) {
      const open = await startOrder(shop.host, shop.accountId, 1);
      shop.fake.pay(referenceOf(open), { amount: 1, currency: 'IDR' });
      await settle(shop.host, 'fake', shop.fake.evidence(referenceOf(open)));
      if (isCharged)
        await shop.database.query(
          `insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at)
           select o.code || '.2', o.id, 2, o.provider, o.price, o.currency, o.expires_at from plan_order o where o.id = ?`,
          [open.id],
        );
      await resolveFlag(shop.database, open.id, 'paid back');
      states.push((await readOrder(shop.database, { id: open.id }))?.state);
    }
    expect(states).toEqual(['cancelled', 'pending']);
  });

  it('is resolved once, with what was done', async () => {
    await settle(shop.host, 'fake', { ...shop.fake.evidence(referenceOf(shop.order)), paymentId: 'second' });
    expect(await resolveFlag(shop.database, shop.order.id, 'paid back by transfer')).toBe(1);
    expect(await resolveFlag(shop.database, shop.order.id, 'again')).toBe(0);
    expect((await shop.reread()).flags).toMatchObject([
      { resolution: 'paid back by transfer', resolvedAt: expect.any(Date) },
    ]);
  });
});
