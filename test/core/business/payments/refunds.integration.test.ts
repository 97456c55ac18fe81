import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startOrder } from '#core/business/payments/checkout.ts';
import { resolveFlag } from '#core/business/payments/flags.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { settleRefund } from '#core/business/payments/refund-status.ts';
import { refundOrder } from '#core/business/payments/refunds.ts';
import { settle } from '#core/business/payments/settle.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
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
  fake.pay(referenceOf(order));
  await settle(host, 'fake', fake.evidence(referenceOf(order)));
});

const reread = async () => (await readOrder(database, { id: order.id })) as Order;
const refund = async (isManual = false) => (await refundOrder(host, order.id, { reason: 'asked for', isManual })).order;
const makeDue = () =>
  database.query('update refund set next_check_at = clock_timestamp() where next_check_at is not null');

describe('a refund', () => {
  it('that the provider confirms at once ends what is left of the order', async () => {
    expect(await refund()).toMatchObject({
      state: 'refunded',
      refunds: [{ key: `${order.code}-R1`, amount: 95_000, state: 'done', isManual: false, reason: 'asked for' }],
    });
    expect((await timeHeld(database, accountId)).seconds).toBeLessThan(60);
  });

  it('by hand asks no provider', async () => {
    expect(await refund(true)).toMatchObject({ state: 'refunded', refunds: [{ state: 'done', isManual: true }] });
    expect(fake.calls).not.toContain('refund');
  });

  it('that is pending ends no period until the provider confirms it', async () => {
    fake.refundState = 'pending';
    expect(await refund()).toMatchObject({ state: 'paid', refunds: [{ state: 'sent' }] });
    expect((await timeHeld(database, accountId)).seconds).toBe(7 * 86_400);
    fake.end(referenceOf(order), 'refunded');
    await makeDue();
    await sweepPayments(host);
    expect(await reread()).toMatchObject({ state: 'refunded', refunds: [{ state: 'done' }] });
  });

  it('that fails flags the order, which stays paid, and can be tried again', async () => {
    fake.fail('refund', new PaymentError('rejected', 'the window is over'));
    expect(await refund()).toMatchObject({
      state: 'paid',
      refunds: [{ state: 'failed' }],
      flags: [{ kind: 'refund_failed', subject: `${order.code}-R1` }],
    });
    fake.failures.clear();
    expect((await refund()).refunds.map(({ key, state }) => [key, state])).toEqual([
      [`${order.code}-R1`, 'failed'],
      [`${order.code}-R2`, 'done'],
    ]);
  });

  it('whose outcome is unknown is repeated under the same key', async () => {
    fake.fail('refund', new PaymentError('unknown', 'timeout'), true);
    expect(await refund()).toMatchObject({ refunds: [{ state: 'asked' }] });
    fake.failures.clear();
    await makeDue();
    await sweepPayments(host);
    expect((await reread()).state).toBe('refunded');
    // The sweep repeats what other tests have left pending as well.
    expect([...fake.refunds.keys()].filter((key) => key.startsWith(order.code))).toEqual([`${order.code}-R1`]);
  });

  it('asked for ten times at once is one', async () => {
    await Promise.allSettled(Array.from({ length: 10 }, () => refund()));
    expect((await reread()).refunds).toHaveLength(1);
    expect(fake.refunds.size).toBe(1);
    expect((await timeHeld(database, accountId)).seconds).toBeLessThan(60);
  });

  it('asked for ten times at once is one at a provider that refuses the second', async () => {
    fake.refusesRepeatedRefunds = true;
    const another = Promise.withResolvers<unknown>();
    fake.before = (call) => {
      if (call !== 'refund') return undefined;
      if (fake.calls.filter((one) => one === 'refund').length > 1) another.resolve(undefined);
      return another.promise as Promise<void>;
    };
    const clicks = Array.from({ length: 10 }, () => refund());
    // The one that asks waits for another one: for its request, or for it to leave that to this one.
    void Promise.any(clicks).then(another.resolve);
    await Promise.allSettled(clicks);
    expect(fake.calls.filter((call) => call === 'refund')).toHaveLength(1);
    expect(await reread()).toMatchObject({ state: 'refunded', flags: [], refunds: [{ state: 'done' }] });
  });

  it('whose answer was lost has not failed when its repetition is refused', async () => {
    fake.refusesRepeatedRefunds = true;
    fake.fail('refund', new PaymentError('unknown', 'timeout'), true);
    await refund();
    fake.failures.clear();
    await makeDue();
    await sweepPayments(host);
    expect(await reread()).toMatchObject({ state: 'refunded', flags: [], refunds: [{ state: 'done' }] });
  });

  it('that is rejected has not failed until the provider reports its status', async () => {
    fake.fail('refund', new PaymentError('rejected', 'REFUND_IN_PROGRESS'), true);
    fake.fail('status', new PaymentError('temporary', 'HTTP 500'));
    expect(await refund()).toMatchObject({ state: 'paid', flags: [], refunds: [{ state: 'asked' }] });
  });

  it('that fails by a mistake of the code is reported as that, and is no failure of the provider', async () => {
    const ask = fake.connection.refund;
    Object.assign(fake.connection, { refund: () => Promise.resolve(undefined) });
    await expect(refund()).rejects.toThrow(TypeError);
    expect(await database.query('select state, failures from refund where order_id = ?', [order.id])).toEqual([
      { state: 'asked', failures: 0 },
    ]);
    Object.assign(fake.connection, { refund: ask });
    await makeDue();
    await sweepPayments(host);
    expect((await reread()).state).toBe('refunded');
  });

  it('that is refused while the provider lists it as pending stays pending', async () => {
    fake.connection.refundStatus = ({ key }) => Promise.resolve({ state: 'pending', raw: { key } });
    fake.fail('refund', new PaymentError('rejected', 'REFUND_IN_PROGRESS'));
    expect(await refund()).toMatchObject({ state: 'paid', flags: [], refunds: [{ state: 'sent' }] });
  });

  it('that is refused and not listed has failed', async () => {
    fake.connection.refundStatus = () => Promise.resolve({ state: 'unknown', raw: {} });
    fake.fail('refund', new PaymentError('rejected', 'the window is over'));
    expect(await refund()).toMatchObject({ flags: [{ kind: 'refund_failed' }], refunds: [{ state: 'failed' }] });
  });

  it('that the provider does not list for a week has failed', async () => {
    fake.refundState = 'pending';
    await refund();
    fake.connection.refundStatus = () => Promise.resolve({ state: 'unknown', raw: {} });
    await makeDue();
    await sweepPayments(host);
    expect(await reread()).toMatchObject({ flags: [], refunds: [{ state: 'sent' }] });
    await database.query("update refund set created_at = created_at - interval '8 days' where order_id = ?", [
      order.id,
    ]);
    await makeDue();
    await sweepPayments(host);
    expect(await reread()).toMatchObject({ flags: [{ kind: 'refund_failed' }], refunds: [{ state: 'failed' }] });
  });

  it('is an event of its money, of a part and of what the provider returned besides', async () => {
    fake.refundState = 'pending';
    await refundOrder(host, order.id, { reason: 'part', isManual: false, amount: 30_000 });
    const events = () =>
      database.query(
        "select payload from account_event where name = 'payment.refunded' and payload ->> 'orderId' = ?",
        [order.id],
      );
    expect(await events()).toEqual([]);
    fake.end(referenceOf(order), 'refunded');
    await makeDue();
    await sweepPayments(host);
    await settle(host, 'fake', fake.evidence(referenceOf(order)));
    const about = { orderId: order.id, accountId, currency: 'IDR' };
    expect(await events()).toEqual([
      { payload: { ...about, refund: `${order.code}-R1`, amount: 30_000 } },
      { payload: { ...about, refund: `${order.code}-R2`, amount: 65_000 } },
    ]);
  });

  it('is an event, once, however it was confirmed', async () => {
    const events = () =>
      database.query("select payload from account_event where name = 'order.refunded' and payload ->> 'orderId' = ?", [
        order.id,
      ]);
    await refund();
    await settle(host, 'fake', fake.evidence(referenceOf(order)));
    expect(await events()).toEqual([{ payload: { orderId: order.id, accountId } }]);

    order = await startOrder(host, accountId, 1);
    fake.pay(referenceOf(order));
    await settle(host, 'fake', fake.evidence(referenceOf(order)));
    fake.end(referenceOf(order), 'refunded');
    await settle(host, 'fake', fake.evidence(referenceOf(order)));
    expect(await events()).toHaveLength(1);
  });

  it('of slow providers does not hold up the others', async () => {
    fake.fail('refund', new PaymentError('temporary', 'HTTP 429'));
    await refund();
    const other = await startOrder(host, accountId, 1);
    fake.pay(referenceOf(other));
    await settle(host, 'fake', fake.evidence(referenceOf(other)));
    await refundOrder(host, other.id, { reason: '', isManual: false });
    fake.failures.clear();
    await makeDue();
    const both = Promise.withResolvers<void>();
    let running = 0;
    fake.before = async (call) => {
      if (call !== 'refund') return;
      if (++running === 2) both.resolve();
      await both.promise;
    };
    await sweepPayments(host);
    expect((await reread()).state).toBe('refunded');
    expect((await readOrder(database, { id: other.id }))?.state).toBe('refunded');
  });

  it('is what the notification that completes it is listed as, also of a part', async () => {
    const reference = referenceOf(order);
    const [first, second] = [30_000, 65_000].map((amount, index) => ({
      id: `rf-${index}`,
      key: undefined,
      amount,
      state: 'done' as const,
    }));
    const report = (refunds: unknown) => settle(host, 'fake', { ...fake.evidence(reference), refunds } as never);
    expect((await report([first])).outcome).toBe('refunded');
    expect((await report([first])).outcome).toBe('unchanged');
    expect((await report([first, second])).outcome).toBe('refunded');
    expect((await reread()).state).toBe('refunded');
  });

  it('tells whom it settles whether the money is back since then', async () => {
    fake.refundState = 'pending';
    await refund();
    const key = `${order.code}-R1`;
    expect(await settleRefund(host, key)).toBe(false);
    fake.end(referenceOf(order), 'refunded');
    expect(await settleRefund(host, key)).toBe(true);
    expect(await settleRefund(host, key)).toBe(false);
  });

  it('confirmed by a notification and by its answer ends the period once', async () => {
    fake.before = async (call) => {
      if (call === 'refund') await settle(host, 'fake', { ...fake.evidence(referenceOf(order)), state: 'refunded' });
    };
    await refund();
    expect(await reread()).toMatchObject({ state: 'refunded', refunds: [{ state: 'done' }] });
    expect(await database.query('select 1 from plan_period where order_id = ?', [order.id])).toHaveLength(2);
  });

  it('is refused for an order that is not paid', async () => {
    const open = await startOrder(host, accountId, 1);
    await expect(refundOrder(host, open.id, { reason: '', isManual: true })).rejects.toMatchObject({
      kind: 'nothing_to_refund',
    });
    await expect(refundOrder(host, accountId, { reason: '', isManual: true })).rejects.toMatchObject({
      kind: 'not_found',
    });
  });
});

describe('a flag', () => {
  it('of another amount cancels the order when it is resolved, unless a new charge was made since', async () => {
    const states = [];
    for (const isCharged of [false, true]) {
      const open = await startOrder(host, accountId, 1);
      fake.pay(referenceOf(open), { amount: 1, currency: 'IDR' });
      await settle(host, 'fake', fake.evidence(referenceOf(open)));
      if (isCharged)
        await database.query(
          `insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at)
           select o.code || '.2', o.id, 2, o.provider, o.price, o.currency, o.expires_at from plan_order o where o.id = ?`,
          [open.id],
        );
      await resolveFlag(database, open.id, 'paid back');
      states.push((await readOrder(database, { id: open.id }))?.state);
    }
    expect(states).toEqual(['cancelled', 'pending']);
  });

  it('is resolved once, with what was done', async () => {
    await settle(host, 'fake', { ...fake.evidence(referenceOf(order)), paymentId: 'second' });
    expect(await resolveFlag(database, order.id, 'paid back by transfer')).toBe(1);
    expect(await resolveFlag(database, order.id, 'again')).toBe(0);
    expect((await reread()).flags).toMatchObject([
      { resolution: 'paid back by transfer', resolvedAt: expect.any(Date) },
    ]);
  });
});
