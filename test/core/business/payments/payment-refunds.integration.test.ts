import { beforeEach, describe, expect, it } from 'vitest';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { listOpenFlags } from '#core/business/payments/flags.ts';
import { listMovements } from '#core/business/payments/movements.ts';
import { type Payment, computeRefundable } from '#core/business/payments/order.ts';
import { type Money, PaymentError } from '#core/business/payments/payment-provider.ts';
import { closeRefund, refundOrder, refundPayment } from '#core/business/payments/refunds.ts';
import { settle } from '#core/business/payments/settle.ts';
import { sweepPayments } from '#core/business/payments/sweep.ts';
import { referenceOf, timeHeld } from './fixture.ts';
import { useShopWithOrder } from './use-shop.ts';

/*
 * Refunds of every kind of payment, at a provider that lists them: what becomes of money, days, flags and books.
 */

const day = 86_400; // s
const price = 95_000; // of 7 days

const shop = useShopWithOrder();
beforeEach(async () => {
  shop.fake.listsRefunds = true;
});

const settleNow = (paymentId?: string) =>
  settle(shop.host, 'fake', shop.fake.evidence(referenceOf(shop.order), paymentId));
async function pay(paid?: Money): Promise<Payment> {
  shop.fake.pay(referenceOf(shop.order), paid);
  await settleNow();
  return (await shop.reread()).payments[0] as Payment;
}
async function payAgain(): Promise<Payment> {
  const paymentId = shop.fake.payAgain(referenceOf(shop.order));
  await settleNow(paymentId);
  return (await shop.reread()).payments.find((one) => one.paymentId === paymentId) as Payment;
}
const held = async () => (await timeHeld(shop.database, shop.accountId)).seconds;
/** Kinds and amounts in the export, and flags that are open. */
async function books() {
  const amounts: number[] = [];
  for await (const { amount } of listMovements(shop.database, { accountId: shop.accountId })) amounts.push(amount);
  const { flags, state } = await shop.reread();
  return { amounts, state, flags: flags.filter(({ resolvedAt }) => !resolvedAt).map(({ kind }) => kind) };
}
const asked = { reason: 'asked for', isManual: false };
const hoursAgo = (count: number) => new Date(Date.now() - count * 3_600_000);
const byHand = { reason: 'by transfer', isManual: true };
const makeDue = () =>
  shop.database.query('update refund set next_check_at = clock_timestamp() where next_check_at is not null');

describe('a refund of', () => {
  it('a wrong amount reaches the books, closes the flag and cancels the order', async () => {
    const { id } = await pay({ amount: 17_999, currency: 'IDR' });
    expect(await books()).toEqual({ amounts: [17_999], state: 'pending', flags: ['wrong_amount'] });
    await refundPayment(shop.host, id, asked);
    expect(await books()).toEqual({ amounts: [17_999, -17_999], state: 'cancelled', flags: [] });
    expect(shop.fake.refunds.get(`${shop.order.code}-R1`)).toBe(17_999);
  });

  it('a second payment leaves the first one and its days', async () => {
    await pay();
    const { paymentId } = await payAgain();
    const refund = await refundPayment(shop.host, paymentId, asked);
    expect(refund).toMatchObject({ state: 'done', days: 'none', amount: price });
    expect(await books()).toEqual({ amounts: [price, price, -price], state: 'paid', flags: [] });
    expect(await held()).toBe(7 * day);
  });

  it('one of two payments of a charge does not make the charge refunded, of both it does', async () => {
    const first = await pay();
    const second = await payAgain();
    const stateOf = async () =>
      (
        await shop.database.query('select state from payment_attempt where reference = ?', [referenceOf(shop.order)])
      )[0];
    shop.fake.giveBack(referenceOf(shop.order), price, second.paymentId);
    await settleNow(second.paymentId);
    expect(await stateOf()).toEqual({ state: 'paid' });
    shop.fake.giveBack(referenceOf(shop.order), price, first.paymentId);
    await settleNow(first.paymentId);
    expect(await stateOf()).toEqual({ state: 'refunded' });
  });

  it('the first payment leaves the second one, whose flag stays', async () => {
    const { id } = await pay();
    await payAgain();
    await refundPayment(shop.host, id, asked);
    expect(await books()).toMatchObject({
      amounts: [price, price, -price],
      state: 'refunded',
      flags: ['second_payment'],
    });
    expect(await held()).toBeLessThan(60);
  });

  it('an order with several payments names them', async () => {
    const { id } = await pay();
    await payAgain();
    await expect(refundOrder(shop.host, shop.order.id, asked)).rejects.toMatchObject({
      kind: 'several_payments',
      message: expect.stringContaining(id) as string,
    });
  });

  it('where the provider chooses among the payments of a charge, one of two is not asked for', async () => {
    Object.assign(shop.fake.connection, { refundsCharges: true });
    const first = await pay();
    const second = await payAgain();
    const unclear = { kind: 'refund_unclear', message: expect.stringMatching(/^Fake .* 2 payments/) as string };
    await expect(refundPayment(shop.host, second.id, asked)).rejects.toMatchObject(unclear);
    expect([(await shop.reread()).refunds, shop.fake.refunds.size]).toEqual([[], 0]);
    await refundPayment(shop.host, second.id, byHand);
    // The provider still has the money that went back by hand.
    await expect(refundPayment(shop.host, first.id, asked)).rejects.toMatchObject(unclear);
    shop.fake.giveBack(referenceOf(shop.order), price);
    await settleNow();
    expect(await books()).toEqual({ amounts: [price, price, -price, -price], state: 'refunded', flags: [] });
  });

  it('where the provider chooses among the payments of a charge, the only one left is asked for', async () => {
    Object.assign(shop.fake.connection, { refundsCharges: true });
    const first = await pay();
    const second = await payAgain();
    shop.fake.giveBack(referenceOf(shop.order), price, second.paymentId);
    await settleNow(second.paymentId);
    await refundPayment(shop.host, first.id, asked);
    expect((await shop.reread()).state).toBe('refunded');
  });

  it('a late payment of a deleted account closes its flag', async () => {
    await settle(shop.host, 'fake', { ...shop.fake.evidence(referenceOf(shop.order)), state: 'expired' });
    await shop.database.query('update account set deleted_at = now() where id = ?', [shop.accountId]);
    const { id } = await pay();
    expect((await books()).flags).toEqual(['deleted_account']);
    const { flags } = await listOpenFlags(shop.database, 1_000);
    expect(flags.find((flag) => flag.order?.id === shop.order.id)?.money).toMatchObject({
      amount: price,
      currency: 'IDR',
    });
    await refundPayment(shop.host, id, asked);
    expect(await books()).toEqual({ amounts: [price, -price], state: 'refunded', flags: [] });
  });

  it('a part leaves the days, and the rest of the payment ends them', async () => {
    const { id } = await pay();
    await refundPayment(shop.host, id, { ...asked, amount: 30_000 });
    expect(await books()).toEqual({ amounts: [price, -30_000], state: 'paid', flags: [] });
    expect(await held()).toBe(7 * day);
    await expect(refundPayment(shop.host, id, { ...asked, amount: 65_001 })).rejects.toMatchObject({
      kind: 'too_much',
    });
    await refundPayment(shop.host, id, asked);
    expect(await books()).toEqual({ amounts: [price, -30_000, -65_000], state: 'refunded', flags: [] });
    expect(await held()).toBeLessThan(60);
    await expect(refundPayment(shop.host, id, asked)).rejects.toMatchObject({ kind: 'nothing_to_refund' });
  });

  it('a payment that gave no days takes none back', async () => {
    await pay();
    const { id } = await payAgain();
    const call = refundPayment(shop.host, id, { ...asked, days: 'unused' });
    await expect(call).rejects.toMatchObject({ kind: 'no_days' });
  });

  it.each([0, -1, 1.5, Number.NaN])('%s is refused', async (amount) => {
    const { id } = await pay();
    await expect(refundPayment(shop.host, id, { ...asked, amount })).rejects.toMatchObject({ kind: 'too_much' });
  });

  it('an unknown payment is refused', async () => {
    await expect(refundPayment(shop.host, 'nobody', asked)).rejects.toMatchObject({ kind: 'not_found' });
  });
});

/** Moves the ledger of the account into the past. */
const use = (seconds: number) =>
  shop.database.query(
    `alter table plan_period disable trigger user;
     update plan_period set starts_at = starts_at - make_interval(secs => ${seconds}), ends_at = ends_at - make_interval(secs => ${seconds})
     where account_id = '${shop.accountId}'; alter table plan_period enable trigger user`,
  );

describe('days', () => {
  it('stay when the operator leaves them, though all of the money goes back', async () => {
    const { id } = await pay();
    const refund = await refundPayment(shop.host, id, { ...asked, days: 'none' });
    expect(refund.days).toBe('none');
    expect(await books()).toMatchObject({ state: 'refunded', amounts: [price, -price] });
    expect(await held()).toBe(7 * day);
  });

  it('go back in full with the used ones from what else there is, once', async () => {
    const { id } = await pay();
    await grantDays(shop.database, shop.accountId, { days: 10 });
    await use(2 * day);
    await refundPayment(shop.host, id, { ...asked, days: 'whole', amount: 1 });
    const left = await held();
    // Two days of the order are used: they stay in the ledger, and the grant has two days less.
    expect(left / day).toBeCloseTo(10, 2);
    await refundPayment(shop.host, id, { ...asked, days: 'whole' });
    expect((await held()) / day).toBeCloseTo(10, 2);
  });

  it('go back without the used ones', async () => {
    const { id } = await pay();
    await grantDays(shop.database, shop.accountId, { days: 10 });
    await use(2 * day);
    await refundPayment(shop.host, id, asked);
    expect((await held()) / day).toBeCloseTo(12, 2);
  });
});

describe('a refund made at the provider', () => {
  it('of a part is entered, and leaves the days', async () => {
    await pay();
    shop.fake.giveBack(referenceOf(shop.order), 30_000);
    await settleNow();
    await settleNow();
    expect(await books()).toEqual({ amounts: [price, -30_000], state: 'paid', flags: [] });
    expect((await shop.reread()).refunds).toMatchObject([
      { key: `${shop.order.code}-R1`, days: 'none', isManual: false },
    ]);
    expect(await held()).toBe(7 * day);
    shop.fake.giveBack(referenceOf(shop.order), 65_000);
    await settleNow();
    expect(await books()).toEqual({ amounts: [price, -30_000, -65_000], state: 'refunded', flags: [] });
    expect(await held()).toBeLessThan(60);
  });

  it('before the charge was first seen does not hide the payment', async () => {
    shop.fake.pay(referenceOf(shop.order));
    shop.fake.giveBack(referenceOf(shop.order), 30_000);
    await settleNow();
    expect(await books()).toEqual({ amounts: [price, -30_000], state: 'paid', flags: [] });
    expect(await held()).toBe(7 * day);
  });

  it('in full before the charge was first seen buys nothing, and is in the books', async () => {
    shop.fake.pay(referenceOf(shop.order));
    shop.fake.giveBack(referenceOf(shop.order), price);
    await settleNow();
    await settleNow();
    expect(await books()).toEqual({ amounts: [price, -price], state: 'refunded', flags: [] });
    expect((await shop.reread()).payments).toMatchObject([{ outcome: 'returned' }]);
    expect(await held()).toBe(0);
  });

  it('of a wrong amount closes its flag', async () => {
    await pay({ amount: 17_999, currency: 'IDR' });
    shop.fake.giveBack(referenceOf(shop.order), 17_999);
    await settleNow();
    expect(await books()).toEqual({ amounts: [17_999, -17_999], state: 'cancelled', flags: [] });
  });

  it('and written down by hand is one', async () => {
    const { id } = await pay();
    await refundPayment(shop.host, id, byHand);
    shop.fake.giveBack(referenceOf(shop.order), price);
    await settleNow();
    await settleNow();
    expect(await books()).toEqual({ amounts: [price, -price], state: 'refunded', flags: [] });
  });

  it('after one by hand, of another amount, is flagged: more has gone back than had come', async () => {
    const { id } = await pay();
    await refundPayment(shop.host, id, byHand);
    shop.fake.giveBack(referenceOf(shop.order), 30_000);
    await settleNow();
    expect(await books()).toEqual({ amounts: [price, -price, -30_000], state: 'refunded', flags: ['refunded_twice'] });
  });

  it('keeps the time that the provider states, and none of the future or of another age', async () => {
    await pay();
    const [at, future, past] = ['2026-01-02T03:04:05Z', '2099-01-01T00:00:00Z', '1970-01-01T00:00:01Z'].map(
      (text) => new Date(text),
    );
    const evidence = shop.fake.evidence(referenceOf(shop.order));
    const refund = { amount: 1_000, state: 'done' as const };
    await settle(shop.host, 'fake', {
      ...evidence,
      refunds: [
        { id: `a-${shop.order.code}`, ...refund, at },
        { id: `b-${shop.order.code}`, ...refund, at: future },
        { id: `c-${shop.order.code}`, ...refund, at: past },
        { id: `d-${shop.order.code}`, ...refund, at: new Date(Number.NaN) },
      ],
    });
    const [first, ...others] = (await shop.reread()).refunds.map(({ finishedAt }) => finishedAt?.getTime() ?? 0);
    expect(first).toBe(at?.getTime());
    for (const other of others) expect(other).toBeCloseTo(Date.now(), -5);
  });
});

/** A refund that was asked for over a week ago. */
const askLongAgo = async (way: 'pending' | 'lost', ago = '8 days') => {
  const { id } = await pay();
  shop.fake.ways.set(referenceOf(shop.order), way);
  const refund = await refundPayment(shop.host, id, asked);
  await shop.database.query('update refund set created_at = created_at - ?::interval where order_id = ?', [
    ago,
    shop.order.id,
  ]);
  return refund.key;
};
const isDue = async () => {
  const rows = await shop.database.query('select 1 from refund where order_id = ? and next_check_at is not null', [
    shop.order.id,
  ]);
  return rows.length > 0;
};

describe('a refund that is under way', () => {
  it('cannot be paid back by hand as well, until it has failed', async () => {
    const { id } = await pay();
    shop.fake.refundState = 'pending';
    const refund = await refundPayment(shop.host, id, asked);
    expect(refund.state).toBe('sent');
    await expect(refundPayment(shop.host, id, byHand)).rejects.toMatchObject({ kind: 'refund_open' });
    await expect(refundPayment(shop.host, id, { ...asked, amount: 1_000 })).rejects.toMatchObject({
      kind: 'refund_open',
    });
    await refundPayment(shop.host, id, asked);
    expect((await shop.reread()).refunds).toHaveLength(1);
    await closeRefund(shop.host, refund.key, 'failed', 'the provider says so');
    await refundPayment(shop.host, id, byHand);
    expect(await books()).toEqual({ amounts: [price, -price], state: 'refunded', flags: [] });
    await expect(closeRefund(shop.host, refund.key, 'done', '')).rejects.toMatchObject({ kind: 'not_open' });
    await expect(closeRefund(shop.host, 'nobody', 'done', '')).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('can be closed as done by the operator’s word', async () => {
    const { id } = await pay();
    shop.fake.refundState = 'pending';
    const refund = await refundPayment(shop.host, id, asked);
    await closeRefund(shop.host, refund.key, 'done', 'the buyer has it');
    expect((await shop.reread()).state).toBe('refunded');
    expect(await held()).toBeLessThan(60);
  });

  it('counts as paid back', async () => {
    const payment = await pay();
    shop.fake.refundState = 'pending';
    await refundPayment(shop.host, payment.id, { ...asked, amount: 30_000 });
    expect(computeRefundable(await shop.reread(), payment)).toBe(65_000);
  });

  it('is asked about more rarely the older it is', async () => {
    const { id } = await pay();
    shop.fake.refundState = 'pending';
    await refundPayment(shop.host, id, asked);
    const pauseAt = async (age: string) => {
      await shop.database.query(`update refund set created_at = clock_timestamp() - ?::interval where order_id = ?`, [
        age,
        shop.order.id,
      ]);
      shop.fake.connection.refundStatus = () => Promise.resolve({ state: 'pending', raw: {} });
      await makeDue();
      await sweepPayments(shop.host);
      const [row] = await shop.database.query<{ pause: number }>(
        'select extract(epoch from next_check_at - clock_timestamp())::float8 as pause from refund where order_id = ?',
        [shop.order.id],
      );
      return Math.round((row?.pause ?? 0) / 60);
    };
    expect([await pauseAt('1 min'), await pauseAt('6 hours'), await pauseAt('6 days')]).toEqual([10, 60, 360]);
  });

  it.each([
    ['at the time that the provider states', hoursAgo(14), -14],
    ['when it was read, if the provider states a time before the request', hoursAgo(30), 0],
    ['when it was read, if the provider states a time to come', hoursAgo(-2), 0],
    ['when it was read, if the provider states none', undefined, 0],
  ])('and confirmed before it is read is booked %s', async (_title, at, expected) => {
    await askLongAgo('pending', '20 hours');
    shop.fake.connection.refundStatus = () => Promise.resolve({ state: 'done', at, raw: {} });
    await makeDue();
    await sweepPayments(shop.host);
    expect((await books()).state).toBe('refunded');
    const [row] = await shop.database.query<{ age: number }>(
      'select extract(epoch from finished_at - clock_timestamp())::float8 / 3600 as age from refund where order_id = ?',
      [shop.order.id],
    );
    expect(Math.round(row?.age ?? Number.NaN)).toBeCloseTo(expected);
  });

  it('and is not confirmed for a week is asked about once more, and is for the operator then', async () => {
    const key = await askLongAgo('pending');
    shop.fake.connection.refundStatus = () => Promise.resolve({ state: 'pending', raw: {} });
    await makeDue();
    await sweepPayments(shop.host);
    expect(await shop.reread()).toMatchObject({ refunds: [{ state: 'sent' }], state: 'paid' });
    expect([(await books()).flags, await isDue()]).toEqual([['refund_unconfirmed'], false]);
    await closeRefund(shop.host, key, 'done', 'the buyer has it');
    expect(await books()).toEqual({ amounts: [price, -price], state: 'refunded', flags: [] });
  });

  it('and is accepted after a week only is asked about before it is for the operator', async () => {
    await askLongAgo('lost');
    shop.fake.connection.refundStatus = () => Promise.resolve({ state: 'pending', raw: {} });
    await makeDue();
    await sweepPayments(shop.host);
    expect((await shop.reread()).refunds).toMatchObject([{ state: 'sent' }]);
    expect([(await books()).flags, await isDue()]).toEqual([[], true]);
    await makeDue();
    await sweepPayments(shop.host);
    expect([(await books()).flags, await isDue()]).toEqual([['refund_unconfirmed'], false]);
  });

  it('and cannot be read for a week is for the operator, whose word closes the flag', async () => {
    const key = await askLongAgo('pending');
    shop.fake.connection.refundStatus = () => Promise.reject(new PaymentError('rejected', 'wrong key'));
    await makeDue();
    await sweepPayments(shop.host);
    expect([(await books()).flags, await isDue()]).toEqual([['refund_unconfirmed'], false]);
    await closeRefund(shop.host, key, 'failed', 'ticket 8123');
    expect(await books()).toEqual({ amounts: [price], state: 'paid', flags: [] });
  });

  it('and was never answered for a week is for the operator, and may still be confirmed', async () => {
    const key = await askLongAgo('lost');
    shop.fake.failures.set('refund', { error: new PaymentError('unknown', 'timeout'), hasEffect: false });
    await makeDue();
    await sweepPayments(shop.host);
    expect([(await books()).flags, await isDue()]).toEqual([['refund_unconfirmed'], false]);
    const refunds = [{ id: `rf-${shop.order.code}`, key, amount: price, state: 'done' as const }];
    await settle(shop.host, 'fake', { ...shop.fake.evidence(referenceOf(shop.order)), refunds });
    expect(await books()).toEqual({ amounts: [price, -price], state: 'refunded', flags: [] });
  });

  it.each([
    ['has failed when the provider refuses it at once', undefined, 'failed'],
    ['stays so when an earlier request may have had its effect', new PaymentError('unknown', 'HTTP 500'), 'asked'],
  ])('%s, and refuses to be read as well', async (_title, earlier, state) => {
    const { id } = await pay();
    const refused = new PaymentError('rejected', 'wrong key');
    shop.fake.connection.refundStatus = () => Promise.reject(refused);
    shop.fake.fail('refund', earlier ?? refused);
    await refundPayment(shop.host, id, asked);
    shop.fake.fail('refund', refused);
    await makeDue();
    await sweepPayments(shop.host);
    expect((await shop.reread()).refunds).toMatchObject([{ state }]);
  });

  it('stays so when the provider refuses the account', async () => {
    const { id } = await pay();
    shop.fake.refundState = 'pending';
    await refundPayment(shop.host, id, asked);
    shop.fake.connection.refundStatus = () => Promise.reject(new PaymentError('rejected', 'wrong key'));
    await makeDue();
    await sweepPayments(shop.host);
    expect((await shop.reread()).refunds).toMatchObject([{ state: 'sent' }]);
  });
});

describe('a refund that has failed', () => {
  it('because the money had gone back from the dashboard is not counted as that refund', async () => {
    const { id } = await pay();
    shop.fake.giveBack(referenceOf(shop.order), price);
    shop.fake.fail('refund', new PaymentError('rejected', 'nothing is left'));
    await refundPayment(shop.host, id, asked);
    expect(await books()).toMatchObject({ amounts: [price, -price], state: 'refunded' });
    expect((await shop.reread()).refunds.map(({ state }) => state)).toEqual(['failed', 'done']);
  });

  it('closes its flag when as much has gone back by hand, not before', async () => {
    const { id } = await pay();
    shop.fake.fail('refund', new PaymentError('rejected', 'the window is over'));
    await refundPayment(shop.host, id, asked);
    expect((await books()).flags).toEqual(['refund_failed']);
    await refundPayment(shop.host, id, { ...byHand, amount: 30_000 });
    expect((await books()).flags).toEqual(['refund_failed']);
    await refundPayment(shop.host, id, byHand);
    expect(await books()).toEqual({ amounts: [price, -30_000, -65_000], state: 'refunded', flags: [] });
  });

  it('and is reported as done later counts, and is flagged when the money went back by hand too', async () => {
    const { id } = await pay();
    shop.fake.fail('refund', new PaymentError('rejected', 'timeout at the bank'));
    await refundPayment(shop.host, id, asked);
    await refundPayment(shop.host, id, byHand);
    const evidence = shop.fake.evidence(referenceOf(shop.order));
    const refunds = [
      { id: `rf-${shop.order.code}`, key: `${shop.order.code}-R1`, amount: price, state: 'done' as const },
    ];
    await settle(shop.host, 'fake', { ...evidence, refunds });
    expect(await books()).toEqual({ amounts: [price, -price, -price], state: 'refunded', flags: ['refunded_twice'] });
  });
});

it('money that has come is an event, whatever it does', async () => {
  await pay({ amount: 1, currency: 'IDR' });
  await settleNow();
  const events = await shop.database.query<{ payload: object }>(
    `select payload from account_event where name = 'payment.received' and payload ->> 'orderId' = ?`,
    [shop.order.id],
  );
  expect(events.map(({ payload }) => payload)).toMatchObject([
    { accountId: shop.accountId, amount: 1, outcome: 'wrong_amount' },
  ]);
});

it('an order that is not paid in time is an event, once', async () => {
  await shop.database.query(`update plan_order set expires_at = clock_timestamp() - interval '10 min' where id = ?`, [
    shop.order.id,
  ]);
  await shop.database.query('update payment_attempt set next_check_at = clock_timestamp() where order_id = ?', [
    shop.order.id,
  ]);
  await sweepPayments(shop.host);
  await sweepPayments(shop.host);
  expect((await shop.reread()).state).toBe('expired');
  const events = await shop.database.query(
    `select 1 from account_event where name = 'order.expired' and payload ->> 'orderId' = ?`,
    [shop.order.id],
  );
  expect(events).toHaveLength(1);
});
