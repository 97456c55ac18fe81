import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database, Queries } from '#core/platform/database/database.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { formatMoney } from '../accounts/money.ts';
import { requireOrder } from './attempts.ts';
import { CheckoutError } from './checkout-error.ts';
import { getPaymentConnection, getPaymentProviders } from './connections.ts';
import type { Payment as PaymentEntity, Refund } from './entities.ts';
import { type DaysBack, type Order, type OrderRefund, type Payment, computeRefundable } from './order-types.ts';
import { readOrder } from './order.ts';
import { failRefund, finishRefund, insertRefund } from './refund-effects.ts';
import { settleRefund } from './refund-status.ts';

interface RefundOptions {
  readonly amount?: number | undefined; // in the smallest unit; default: the payment's entire remaining amount
  /** Which days to take back. Default: the unused ones if the payment gave days and everything that remains is refunded, otherwise none. */
  readonly days?: DaysBack | undefined;
  readonly reason: string; // for the provider and for bookkeeping
  readonly isManual: boolean; // the operator has already returned the money outside the provider
}

/**
 * Refunds one payment in full or in part. The payment may be a second, wrong or late one, or come from a deleted account. The days are
 * taken back when the provider confirms the refund; until then, it is `asked` or `sent`. If it fails, the order is flagged. Repeating the
 * call while a refund is in progress reads its status.
 *
 * @param id the payment's id, ours or the provider's
 * @throws CheckoutError `not_found`; `nothing_to_refund`; `too_much`; `no_days`; `refund_unclear`; `refund_open` if another refund of the
 *   payment is in progress, so the money would be paid back twice
 */
export async function refundPayment(host: Host, id: string, options: RefundOptions): Promise<OrderRefund> {
  const payment = await findPayment(host.database, id);
  if (payment === undefined) throw new CheckoutError('not_found', `Payment ${id} not found.`);
  return requestRefund(host, payment.order_id, payment.id, options);
}

/** @param id the payment's id, ours or the provider's */
export async function findOrderOfPayment(database: Queries, id: string): Promise<Order | undefined> {
  const payment = await findPayment(database, id);
  return payment && readOrder(database, { id: payment.order_id });
}

export async function findOrderOfRefund(database: Queries, key: string): Promise<string | undefined> {
  const [row] = await database.query<Row<typeof Refund, 'order_id'>>('select order_id from refund where key = ?', [
    key,
  ]);
  return row?.order_id;
}

async function findPayment(database: Queries, id: string) {
  const [payment] = await database.query<Row<typeof PaymentEntity, 'id' | 'order_id'>>(
    'select id, order_id from payment where id::text = lower(?) or payment_id = ? order by id::text = lower(?) desc limit 1',
    [id, id, id],
  );
  return payment;
}

/**
 * Refunds an order's payment, if it has exactly one that can still be refunded.
 *
 * @throws CheckoutError `several_payments`, and the kinds that `refundPayment` throws
 */
export async function refundOrder(host: Host, orderId: string, options: RefundOptions): Promise<OrderRefund> {
  const order = await readOrder(host.database, { id: orderId });
  if (order === undefined) throw new CheckoutError('not_found', 'Order not found.');
  return requestRefund(host, order.id, findRefundablePayment(order).id, options);
}

/** @throws CheckoutError `nothing_to_refund`, `several_payments` */
export function findRefundablePayment(order: Order): Payment {
  const pendingRefunds = order.refunds.filter(({ state }) => state === 'asked' || state === 'sent');
  const candidates = order.payments.filter(
    (payment) =>
      computeRefundable(order, payment) > 0 || pendingRefunds.some(({ paymentId }) => paymentId === payment.id),
  );
  const [payment, secondPayment] = candidates;
  if (payment === undefined)
    throw new CheckoutError('nothing_to_refund', `Order ${order.code} has no payment with anything left to refund.`);
  if (secondPayment === undefined) return payment;
  const descriptions = candidates.map(
    ({ id, amount, currency, outcome }) => `${id} (${formatMoney(amount, currency)}, ${outcome})`,
  );
  throw new CheckoutError(
    'several_payments',
    `Order ${order.code} has ${candidates.length} payments; name the one to refund: ${descriptions.join(', ')}`,
  );
}

async function requestRefund(
  host: Host,
  orderId: string,
  paymentId: string,
  options: RefundOptions,
): Promise<OrderRefund> {
  const key = await host.database.fork().transactional(async (transaction) => {
    const refundKey = await insertOrReuseRefund(host, transaction, orderId, paymentId, options);
    if (options.isManual) await finishRefund(transaction, refundKey, null);
    return refundKey;
  });
  if (!options.isManual) await settleRefund(host, key);
  const { refunds } = await requireOrder(host, orderId);
  return refunds.find((refund) => refund.key === key) as OrderRefund;
}

interface RefundablePayment extends Row<typeof PaymentEntity, 'amount' | 'currency' | 'outcome' | 'provider'> {
  readonly remainder: number;
  readonly other_payments: number; // other payments of the same charge, with money left at the provider
  readonly pending_key: string | null; // of the refund in progress
  readonly pending_amount: number;
  readonly pending_days: DaysBack;
}

async function insertOrReuseRefund(
  host: Host,
  transaction: EntityManager,
  orderId: string,
  paymentId: string,
  { amount, days, reason, isManual }: RefundOptions,
): Promise<string> {
  await transaction.execute('select 1 from plan_order where id = ? for no key update', [orderId]);
  const [payment] = await transaction.execute<RefundablePayment[]>(
    `select p.amount::float8 as amount, p.currency, p.outcome, p.provider, pending.key as pending_key, pending.amount::float8 as pending_amount,
       pending.days as pending_days, (p.amount - (
         select coalesce(sum(amount), 0) from refund r where r.payment_id = p.id and r.state <> 'failed'))::float8 as remainder,
       (select count(*)::int from payment o where o.reference = p.reference and o.id <> p.id
         and o.provider_reference is not distinct from p.provider_reference
         and o.amount > (select coalesce(sum(amount), 0) from refund r
           where r.payment_id = o.id and r.state <> 'failed' and not r.is_manual)) as other_payments
     from payment p left join lateral (
       select * from refund r where r.payment_id = p.id and r.state in ('asked', 'sent') order by created_at limit 1
     ) pending on true where p.id = ?`,
    [paymentId],
  );
  if (payment === undefined) throw new CheckoutError('not_found', `Payment ${paymentId} not found.`);
  if (payment.pending_key !== null) return requireSameRefund(payment, payment.pending_key, { amount, days, isManual });
  const { remainder, currency, outcome, other_payments: otherPayments, provider } = payment;
  if (remainder <= 0) throw new CheckoutError('nothing_to_refund', 'All of this payment has been refunded.');
  const refundAmount = amount ?? remainder;
  if (!Number.isSafeInteger(refundAmount) || refundAmount < 1 || refundAmount > remainder)
    throw new CheckoutError('too_much', `At most ${formatMoney(remainder, currency)} of this payment can be refunded.`);
  if (!isManual && otherPayments > 0 && getPaymentConnection(host, provider).refundsCharges === true)
    throw new CheckoutError(
      'refund_unclear',
      `${providerTitle(host, provider)} does not say which of the ${otherPayments + 1} payments of a charge it returns. Refund this one in its dashboard, or pay it back yourself and record that (manual).`,
    );
  const gaveDays = outcome === 'activated';
  if (!gaveDays && days !== undefined && days !== 'none')
    throw new CheckoutError('no_days', 'This payment gave no days, so none can be taken back with it.');
  const defaultDays = gaveDays && refundAmount === remainder ? 'unused' : 'none';
  return insertRefund(transaction, { paymentId, amount: refundAmount, days: days ?? defaultDays, isManual, reason });
}

function providerTitle(host: Host, provider: string): string {
  return getPaymentProviders(host).get(provider)?.title ?? provider;
}

/** @throws CheckoutError `refund_open` if the refund in progress is a different one */
function requireSameRefund(
  { pending_amount: pendingAmount, pending_days: pendingDays, currency, remainder }: RefundablePayment,
  key: string,
  { amount, days, isManual }: Pick<RefundOptions, 'amount' | 'days' | 'isManual'>,
): string {
  const isSame = (amount ?? pendingAmount + remainder) === pendingAmount && (days ?? pendingDays) === pendingDays;
  if (isSame && !isManual) return key;
  throw new CheckoutError(
    'refund_open',
    `Refund ${key} of ${formatMoney(pendingAmount, currency)} is in progress at the provider, and would be paid twice. Wait until it is done or has failed, or close it when the provider reports its result.`,
  );
}

/**
 * Closes a refund in progress at an operator's request, if the provider does not report its result.
 *
 * @throws CheckoutError `not_found`; `not_open` if it is done or has failed
 */
export async function closeRefund(
  { database }: { readonly database: Database },
  key: string,
  outcome: 'done' | 'failed',
  note: string,
): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    const [currentRefund] = await transaction.execute<Row<typeof Refund, 'state'>[]>(
      'select state from refund where key = ?',
      [key],
    );
    if (currentRefund === undefined) throw new CheckoutError('not_found', `Refund ${key} not found.`);
    if (currentRefund.state !== 'asked' && currentRefund.state !== 'sent')
      throw new CheckoutError('not_open', `Refund ${key} is already ${currentRefund.state}.`);
    const raw = { closed: outcome, note };
    if (outcome === 'done') await finishRefund(transaction, key, raw);
    else await failRefund(transaction, key, raw, { isFlagged: false });
  });
}
