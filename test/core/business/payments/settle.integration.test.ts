import { describe, expect, it } from 'vitest';
import { findAccount } from '#core/business/accounts/accounts.ts';
import { cancelOrder, renewCharge, startOrder } from '#core/business/payments/checkout.ts';
import { describeCode } from '#core/business/payments/order-codes.ts';
import { listOrders, type Order, type OrderFilter, readOrder } from '#core/business/payments/order.ts';
import type { PaymentEvidence, PaymentState } from '#core/business/payments/payment-provider.ts';
import { refundOrder } from '#core/business/payments/refunds.ts';
import { settle } from '#core/business/payments/settle.ts';
import { createBuyer, createPaymentHost, referenceOf, timeHeld } from './fixture.ts';
import { useShopWithOrder } from './use-shop.ts';

const day = 24 * 60 * 60; // s

const shop = useShopWithOrder();

const reread = async (id = shop.order.id) => (await readOrder(shop.database, { id })) as Order;
const settleNow = (evidence: PaymentEvidence) => settle(shop.host, 'fake', evidence);
const stated = (change: Partial<PaymentEvidence> = {}) => ({
  ...shop.fake.evidence(referenceOf(shop.order)),
  ...change,
});
const paid = (change: Partial<PaymentEvidence> = {}) => {
  shop.fake.pay(referenceOf(shop.order));
  return stated(change);
};
/** An id that no payment of another test has: it would be foreign here. */
const named = (number: number) => `py-${shop.order.code}-${number}`;
const events = async (name: string, id = shop.order.id) =>
  shop.database.query("select 1 from account_event where name = ? and payload->>'orderId' = ?", [name, id]);

async function bring(state: Order['state']): Promise<void> {
  if (state === 'cancelled') await cancelOrder(shop.host, shop.order.id);
  else if (state === 'refunded') await settleNow(paid());
  if (state !== 'created' && state !== 'cancelled')
    await settleNow(state === 'paid' ? paid() : stated({ state: state as PaymentState }));
  if (state === 'created')
    await shop.database.query("update plan_order set state = 'created' where id = ?", [shop.order.id]);
  expect((await reread()).state).toBe(state);
}

describe('evidence moves an order', () => {
  const table: [Order['state'], PaymentState, Order['state']][] = [
    ['created', 'pending', 'pending'],
    ['created', 'paid', 'paid'],
    ['created', 'expired', 'expired'],
    ['created', 'failed', 'failed'],
    ['created', 'refunded', 'refunded'],
    ['created', 'unknown', 'created'],
    ['pending', 'paid', 'paid'],
    ['pending', 'expired', 'expired'],
    ['pending', 'failed', 'failed'],
    ['pending', 'pending', 'pending'],
    ['pending', 'disputed', 'pending'],
    ['pending', 'unknown', 'pending'],
    ['expired', 'paid', 'paid'],
    ['expired', 'pending', 'expired'],
    ['expired', 'failed', 'expired'],
    ['failed', 'paid', 'paid'],
    ['failed', 'expired', 'failed'],
    ['cancelled', 'paid', 'paid'],
    ['cancelled', 'failed', 'cancelled'],
    ['paid', 'paid', 'paid'],
    ['paid', 'pending', 'paid'],
    ['paid', 'expired', 'paid'],
    ['paid', 'failed', 'paid'],
    ['paid', 'refunded', 'refunded'],
    ['paid', 'disputed', 'paid'],
    ['refunded', 'paid', 'refunded'],
    ['refunded', 'pending', 'refunded'],
    ['refunded', 'refunded', 'refunded'],
  ];

  it.each(table)('from %s by %s to %s', async (from, state, to) => {
    await bring(from);
    await settleNow(state === 'paid' ? paid() : stated({ state }));
    expect((await reread()).state).toBe(to);
    expect((await timeHeld(shop.database, shop.accountId)).periods).toBeLessThanOrEqual(1);
  });
});

describe('a payment in full', () => {
  it('adds the days, the limits and the events, once', async () => {
    expect(await settleNow(paid())).toBe('paid');
    expect(await settleNow(paid())).toBe('unchanged');
    expect(await timeHeld(shop.database, shop.accountId)).toEqual({ seconds: 7 * day, periods: 1 });
    expect((await findAccount(shop.database, shop.accountId)).periods).toMatchObject([
      { label: 'week', limits: { limit: 5 } },
    ]);
    expect(await events('order.paid')).toHaveLength(1);
    expect((await reread()).payments).toMatchObject([{ outcome: 'activated', amount: 95_000 }]);
  });

  it('activates once when forty processes settle it at once', async () => {
    const evidence = paid();
    await Promise.all(Array.from({ length: 40 }, () => settleNow(evidence)));
    expect(await timeHeld(shop.database, shop.accountId)).toEqual({ seconds: 7 * day, periods: 1 });
    expect(await events('order.paid')).toHaveLength(1);
  });

  it('keeps its days when it races with every other statement', async () => {
    const evidence = paid();
    const states: PaymentState[] = ['pending', 'expired', 'failed', 'unknown'];
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        settleNow(n % 5 === 4 ? evidence : stated({ state: states[n % 4] ?? 'pending' })),
      ),
    );
    expect((await reread()).state).toBe('paid');
    expect(await timeHeld(shop.database, shop.accountId)).toEqual({ seconds: 7 * day, periods: 1 });
  });

  it('of two orders of one account in the same instant adds both', async () => {
    const other = await startOrder(shop.host, shop.accountId, 30);
    shop.fake.pay(referenceOf(other));
    const evidence = [paid(), shop.fake.evidence(referenceOf(other))];
    await Promise.all(Array.from({ length: 10 }, (_, n) => settleNow(evidence[n % 2] as PaymentEvidence)));
    expect(await timeHeld(shop.database, shop.accountId)).toEqual({ seconds: 37 * day, periods: 2 });
  });

  it('of a renewal begins at the end of the last period', async () => {
    await settleNow(paid());
    shop.order = await startOrder(shop.host, shop.accountId, 30);
    await settleNow(paid());
    const [first, second] = (await findAccount(shop.database, shop.accountId)).periods;
    expect(second?.startsAt).toEqual(first?.endsAt);
  });

  it('says that a plan has started only after a time without one', async () => {
    await settleNow(paid());
    shop.order = await startOrder(shop.host, shop.accountId, 1);
    await settleNow(paid());
    const started = await shop.database.query(
      "select 1 from account_event where name = 'plan.started' and payload->>'accountId' = ?",
      [shop.accountId],
    );
    expect(started).toHaveLength(1);
  });

  it.each(['expired', 'failed', 'cancelled'] as const)(
    'of an order that was %s is late, and activates',
    async (state) => {
      await bring(state);
      await settleNow(paid());
      expect(await reread()).toMatchObject({ state: 'paid', isLate: true });
      expect((await timeHeld(shop.database, shop.accountId)).seconds).toBe(7 * day);
    },
  );

  it('keeps the time that the provider states, and texts of any kind', async () => {
    const paidAt = new Date('2026-01-02T03:04:05.678Z');
    const issuer = `Bank "O'Neil" \\ ? $1 😀`;
    await settleNow(paid({ paidAt, issuer, raw: { text: `\0 ' \\ ? \ud800` } }));
    expect(await reread()).toMatchObject({ paidAt, payments: [{ paidAt, issuer }] });
  });
});

it('a payment of a deleted account is kept and flagged', async () => {
  await shop.database.query('update account set deleted_at = now() where id = ?', [shop.accountId]);
  await settleNow(paid());
  expect(await reread()).toMatchObject({ state: 'paid', flags: [{ kind: 'deleted_account' }] });
});

describe('a payment that is not what was ordered', () => {
  it.each([
    ['wrong_amount', { amount: 1, currency: 'IDR' }],
    ['wrong_amount', { amount: 95_001, currency: 'IDR' }],
    ['wrong_currency', { amount: 95_000, currency: 'USD' }],
  ] as const)('is kept and flagged as %s, and activates nothing', async (kind, money) => {
    await settleNow(paid({ paid: money }));
    await settleNow(paid({ paid: money }));
    const { state, payments, flags } = await reread();
    expect(state).toBe('pending');
    expect(payments).toMatchObject([{ outcome: kind, ...money }]);
    expect(flags).toMatchObject([{ kind }]);
    expect(await events('order.flagged')).toHaveLength(1);
    expect((await timeHeld(shop.database, shop.accountId)).periods).toBe(0);
  });

  it('does not keep a later one from activating', async () => {
    await settleNow(paid({ paid: { amount: 1, currency: 'IDR' } }));
    await settleNow(paid({ paymentId: named(2) }));
    expect((await reread()).state).toBe('paid');
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBe(7 * day);
  });

  it('without an amount activates nothing and is flagged', async () => {
    const { paid: _, ...evidence } = paid();
    expect(await settleNow(evidence)).toBe('flagged');
    expect(await reread()).toMatchObject({ state: 'pending', payments: [], flags: [{ kind: 'disputed' }] });
  });
});

const withoutName = () => {
  const { paymentId: _, ...evidence } = paid();
  return evidence;
};

describe('a payment that the provider names later', () => {
  it('is one payment', async () => {
    await settleNow(withoutName());
    expect(await settleNow(paid({ paymentId: named(1) }))).toBe('unchanged');
    expect(await settleNow(withoutName())).toBe('unchanged');
    const { payments, flags } = await reread();
    expect(payments).toMatchObject([{ paymentId: named(1), outcome: 'activated' }]);
    expect(flags).toEqual([]);
  });

  it('does not hide a second one', async () => {
    await settleNow(withoutName());
    await settleNow(paid({ paymentId: named(1) }));
    await settleNow(paid({ paymentId: named(2) }));
    expect((await reread()).payments.map(({ outcome }) => outcome)).toEqual(['activated', 'second']);
  });

  it('is one payment when both statements arrive forty times at once', async () => {
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => settleNow(n % 2 ? withoutName() : paid({ paymentId: named(1) }))),
    );
    expect((await reread()).payments).toHaveLength(1);
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBe(7 * day);
  });
});

describe('a second payment of one order', () => {
  it('is kept and flagged, and adds no days', async () => {
    await settleNow(paid());
    await settleNow(paid({ paymentId: named(2) }));
    const { payments, flags } = await reread();
    expect(payments.map(({ outcome }) => outcome)).toEqual(['activated', 'second']);
    expect(flags).toMatchObject([{ kind: 'second_payment', subject: named(2) }]);
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBe(7 * day);
  });

  it('is recognised on an earlier attempt', async () => {
    const first = referenceOf(shop.order);
    await settleNow(stated({ state: 'expired' }));
    shop.order = await renewCharge(shop.host, shop.order.id);
    expect(referenceOf(shop.order)).not.toBe(first);
    await settleNow(paid());
    shop.fake.pay(first);
    await settleNow(shop.fake.evidence(first));
    expect((await reread()).payments.map(({ outcome }) => outcome)).toEqual(['activated', 'second']);
  });

  it('that came and went before it was seen is kept, and leaves what the first one bought', async () => {
    await settleNow(paid());
    await settleNow(stated({ paymentId: named(2), state: 'refunded' }));
    const { state, payments } = await reread();
    expect([state, payments.map(({ outcome }) => outcome)]).toEqual(['paid', ['activated', 'returned']]);
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBe(7 * day);
  });

  it('can be refunded without ending what the first one bought', async () => {
    await settleNow(paid());
    await settleNow(paid({ paymentId: named(2) }));
    await settleNow(stated({ paymentId: named(2), state: 'refunded' }));
    expect((await reread()).state).toBe('paid');
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBe(7 * day);
  });
});

describe('an earlier attempt', () => {
  it('does not end its order by running out', async () => {
    const first = referenceOf(shop.order);
    await settleNow(stated({ state: 'expired' }));
    shop.order = await renewCharge(shop.host, shop.order.id);
    await settleNow({ ...shop.fake.evidence(first), state: 'expired' });
    expect((await reread()).state).toBe('pending');
  });

  it('activates when it is paid', async () => {
    const first = referenceOf(shop.order);
    await settleNow(stated({ state: 'expired' }));
    await renewCharge(shop.host, shop.order.id);
    shop.fake.pay(first);
    await settleNow(shop.fake.evidence(first));
    expect((await reread()).state).toBe('paid');
  });
});

describe('a refund', () => {
  it('ends what is left of the order, and leaves later orders their full length', async () => {
    await settleNow(paid());
    const next = await startOrder(shop.host, shop.accountId, 30);
    shop.fake.pay(referenceOf(next));
    await settleNow(shop.fake.evidence(referenceOf(next)));
    await settleNow(stated({ state: 'refunded' }));
    const { period } = await reread(next.id);
    expect((period?.endsAt.getTime() ?? 0) - (period?.startsAt.getTime() ?? 0)).toBe(30 * day * 1_000);
    expect(period?.startsAt.getTime()).toBeLessThan(Date.now() + 60_000);
  });

  it('made in the dashboard of the provider is entered once, for bookkeeping', async () => {
    await settleNow(paid());
    await settleNow(stated({ state: 'refunded' }));
    await settleNow(stated({ state: 'refunded' }));
    const { refunds } = await reread();
    expect(refunds).toMatchObject([{ key: `${shop.order.code}-R1`, amount: 95_000, currency: 'IDR', state: 'done' }]);
  });

  it('that arrives before its payment prevents the activation', async () => {
    await settleNow(paid({ state: 'refunded' }));
    await settleNow(paid());
    expect((await reread()).state).toBe('refunded');
    expect((await timeHeld(shop.database, shop.accountId)).periods).toBe(0);
  });

  it('that arrives forty times ends it once', async () => {
    await settleNow(paid());
    await startOrder(shop.host, shop.accountId, 30);
    await Promise.all(Array.from({ length: 40 }, () => settleNow(stated({ state: 'refunded' }))));
    const entries = await shop.database.query('select 1 from plan_period where order_id = ?', [shop.order.id]);
    expect(entries).toHaveLength(2);
  });
});

describe('a dispute', () => {
  it('is flagged once and ends no period', async () => {
    await settleNow(paid());
    await settleNow(stated({ state: 'disputed' }));
    await settleNow(stated({ state: 'disputed' }));
    expect((await reread()).flags).toMatchObject([{ kind: 'disputed' }]);
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBe(7 * day);
  });

  it('by a denial after the payment is flagged as reversed', async () => {
    await settleNow(paid());
    await settleNow(stated({ state: 'failed' }));
    expect((await reread()).flags).toMatchObject([{ kind: 'reversed' }]);
  });
});

describe('evidence about something else', () => {
  it('is no order of ours', async () => {
    expect(await settleNow({ reference: 'ORD-NOBODY.1', providerReference: 'x', state: 'paid', raw: null })).toBe(
      'unknown_order',
    );
  });

  it('from another provider does not reach the order', async () => {
    expect(await settle(shop.host, 'other', paid())).toBe('unknown_order');
    expect((await reread()).state).toBe('pending');
  });

  it('with the reference of one charge and the payment of another activates nothing', async () => {
    const other = await startOrder(shop.host, await createBuyer(shop.database), 7);
    shop.fake.pay(referenceOf(other));
    const stolen = { ...shop.fake.evidence(referenceOf(other)), reference: referenceOf(shop.order) };
    expect(await settleNow(stolen)).toBe('foreign');
    expect((await reread()).state).toBe('pending');
    expect((await reread()).flags).toMatchObject([{ kind: 'wrong_reference' }]);
  });

  it('about a charge that was never shown, with a payment of another order, records neither payment nor refund', async () => {
    const other = await startOrder(shop.host, await createBuyer(shop.database), 7);
    shop.fake.pay(referenceOf(other));
    await settleNow(shop.fake.evidence(referenceOf(other)));
    const refunds = [{ id: `rf-${shop.order.code}`, amount: 95_000, state: 'done' as const }];
    const unshown = {
      providerReference: `U-${referenceOf(shop.order)}`,
      paymentId: `T-${referenceOf(other)}`,
      refunds,
    };
    expect(await settleNow(paid(unshown))).toBe('foreign');
    const payments = [await reread(), await readOrder(shop.database, { id: other.id })].map((one) => [
      one?.payments.length,
      one?.refunds.length,
    ]);
    expect(payments).toEqual([
      [0, 0],
      [1, 0],
    ]);
  });

  it('with a payment id that paid another order activates nothing', async () => {
    const other = await startOrder(shop.host, await createBuyer(shop.database), 7);
    shop.fake.pay(referenceOf(other));
    await settleNow(shop.fake.evidence(referenceOf(other)));
    expect(await settleNow(paid({ paymentId: `T-${referenceOf(other)}` }))).toBe('foreign');
    expect((await timeHeld(shop.database, shop.accountId)).periods).toBe(0);
  });
});

const ids = async (filter: OrderFilter) =>
  (await listOrders(shop.database, { accountId: shop.accountId, ...filter }, undefined, 10)).orders.map(({ id }) => id);

describe('the list of orders', () => {
  it('pages through the orders of an account, newest first', async () => {
    const others = [await startOrder(shop.host, shop.accountId, 1), await startOrder(shop.host, shop.accountId, 30)];
    const first = await listOrders(shop.database, { accountId: shop.accountId }, undefined, 2);
    const second = await listOrders(shop.database, { accountId: shop.accountId }, first.next, 2);
    expect([...first.orders, ...second.orders].map(({ id }) => id)).toEqual(
      [shop.order, ...others].map(({ id }) => id).toReversed(),
    );
    expect(second.next).toBeUndefined();
    expect((await listOrders(shop.database, { accountId: shop.accountId }, undefined, 3)).next).toBeUndefined();
  });

  it('finds those that are flagged, and those of a state and a time', async () => {
    await settleNow(paid({ paid: { amount: 1, currency: 'IDR' } }));
    expect(await ids({ isFlagged: true })).toEqual([shop.order.id]);
    expect(await ids({ isFlagged: false })).toEqual([]);
    expect(await ids({ state: 'pending', since: new Date(Date.now() - 3_600_000) })).toEqual([shop.order.id]);
    expect(await ids({ until: new Date(Date.now() - 3_600_000) })).toEqual([]);
  });

  it('reads an order by its code for its owner only', async () => {
    const code = shop.order.code.toLowerCase();
    expect((await readOrder(shop.database, { code }, shop.accountId))?.id).toBe(shop.order.id);
    expect(await readOrder(shop.database, { code }, await createBuyer(shop.database))).toBeUndefined();
    expect(await readOrder(shop.database, { id: 'no id' })).toBeUndefined();
  });
});

/** The last attempt of the order, as it is on record. */
const readAttempt = async () => {
  const [row] = await shop.database.query<{ state: string; charge: string; is_checked: boolean }>(
    'select state, charge, next_check_at is not null as is_checked from payment_attempt where reference = ?',
    [referenceOf(shop.order)],
  );
  return row;
};

describe('what a provider has stated', () => {
  it.each([
    ['paid', false],
    ['refunded', false],
    ['disputed', true],
    ['failed', true],
    ['expired', true],
    ['pending', true],
    ['unknown', true],
  ] as const)('%s leaves further checks: %s', async (state, isChecked) => {
    await settleNow(paid({ state }));
    expect(await readAttempt()).toMatchObject({ state, is_checked: isChecked });
  });

  it.each([
    ['pending', 'created'],
    ['unknown', 'unknown'],
  ] as const)('%s about a charge of unknown outcome makes it %s', async (state, charge) => {
    await shop.database.query(`update payment_attempt set charge = 'unknown' where reference = ?`, [
      referenceOf(shop.order),
    ]);
    await settleNow(stated({ state }));
    expect((await readAttempt())?.charge).toBe(charge);
  });

  it('is the time at which an order was paid, for one that is refunded before it is seen as well', async () => {
    const paidAt = new Date('2026-01-02T03:04:05Z');
    await settleNow(paid({ state: 'refunded', paidAt }));
    expect((await reread()).paidAt).toEqual(paidAt);
    shop.order = await startOrder(shop.host, shop.accountId, 1);
    await settleNow(stated({ state: 'expired', paidAt }));
    expect((await reread()).paidAt).toBeUndefined();
  });
});

describe('a gift where no plugin makes codes', () => {
  it('is not sold', async () => {
    const giftHost = createPaymentHost(shop.database, [shop.fake.provider], { payments: { gifts: true } });
    await expect(startOrder(giftHost, shop.accountId, 7, { isGift: true })).rejects.toMatchObject({ kind: 'no_gifts' });
  });

  it('that is paid nevertheless gives its buyer the days, which a refund takes back', async () => {
    await shop.database.query('update plan_order set is_gift = true where id = ?', [shop.order.id]);
    await settleNow(paid());
    expect(await timeHeld(shop.database, shop.accountId)).toEqual({ seconds: 7 * day, periods: 1 });
    expect(await reread()).toMatchObject({ state: 'paid', gift: undefined, period: { startsAt: expect.any(Date) } });
    await refundOrder(shop.host, shop.order.id, { reason: 'asked for', isManual: true });
    expect((await timeHeld(shop.database, shop.accountId)).seconds).toBeLessThan(60);
  });

  it('that is paid nevertheless is flagged until it is refunded', async () => {
    await shop.database.query('update plan_order set is_gift = true where id = ?', [shop.order.id]);
    await settleNow(paid());
    expect((await reread()).flags).toMatchObject([{ kind: 'gift_without_code', resolvedAt: undefined }]);
    await refundOrder(shop.host, shop.order.id, { reason: 'asked for', isManual: true });
    expect((await reread()).flags).toMatchObject([{ resolvedAt: expect.any(Date) }]);
  });

  it('that is paid nevertheless is not called unpaid', async () => {
    await shop.database.query('update plan_order set is_gift = true where id = ?', [shop.order.id]);
    const reader = { t: (key: string) => key, format: { time: () => ({ text: '' }) } };
    expect(describeCode(await reread(), reader)).toBe('operator.gift.unpaid');
    await settleNow(paid());
    expect(describeCode(await reread(), reader)).toBe('operator.gift.none');
  });

  it('cannot be charged again once it has expired', async () => {
    await shop.database.query(`update plan_order set is_gift = true, state = 'expired' where id = ?`, [shop.order.id]);
    const giftHost = createPaymentHost(shop.database, [shop.fake.provider], { payments: { gifts: true } });
    await expect(renewCharge(giftHost, shop.order.id)).rejects.toMatchObject({ kind: 'no_gifts' });
  });

  it('loses an earlier code with a refund, so that it cannot be redeemed later', async () => {
    await settleNow(paid());
    await shop.database.query('update plan_order set is_gift = true where id = ?', [shop.order.id]);
    await shop.database.query(
      `insert into voucher (id, order_id, sha256, hint, expires_at)
       values (gen_random_uuid(), ?, sha256(?::text::bytea), 'ABCD', clock_timestamp() + interval '1 day')`,
      [shop.order.id, shop.order.id],
    );
    expect((await reread()).gift?.state).toBe('open');
    await refundOrder(shop.host, shop.order.id, { reason: 'asked for', isManual: true });
    expect((await reread()).gift?.state).toBe('revoked');
  });
});
