import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '#core/platform/database/database.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { formatMoney } from '../accounts/money.ts';
import { requireOrder } from './attempts.ts';
import { CheckoutError } from './checkout-error.ts';
import { paymentConnection, paymentProviders } from './connections.ts';
import { readOrder } from './order.ts';
import { type DaysBack, type Order, type OrderRefund, type Payment, refundable } from './order-types.ts';
import { failRefund, finishRefund, insertRefund } from './refund-effects.ts';
import { settleRefund } from './refund-status.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { Payment as PaymentEntity, Refund } from './entities.ts';

interface RefundOptions {
  /** In the currency's smallest unit; default: the remainder of the payment. */
  readonly amount?: number | undefined;
  /** Days to take back. Default: the unused ones if the whole remainder of a payment that gave days is refunded, otherwise none. */
  readonly days?: DaysBack | undefined;
  readonly reason: string; // for the provider and for bookkeeping
  /** The operator has returned the money outside the provider. */
  readonly isManual: boolean;
}

interface Refunded {
  readonly order: Order;
  readonly refund: OrderRefund;
}

/**
 * Refunds one payment in full or in part: the one that activated its order, a second one, a wrong amount, a late one, or one of a deleted
 * account. The days are taken back when the provider confirms the refund, at once or later (it is `asked` or `sent`). A failed refund flags
 * the order. Repeating the call while a refund is in progress reads its status.
 *
 * @param id of the payment, ours or the provider's
 * @throws CheckoutError `not_found`; `nothing_to_refund`; `too_much`; `no_days`; `refund_unclear`; `refund_open` if another refund of the
 * payment is in progress, and the money would be paid back twice
 */
export async function refundPayment(host: Host, id: string, options: RefundOptions): Promise<Refunded> {
  const found = await findPayment(host.database, id);
  if (found === undefined) throw new CheckoutError('not_found', `Payment ${id} not found.`);
  return refund(host, found.order_id, found.id, options);
}

/**
 * Finds the order of a payment.
 *
 * @param id of the payment, ours or the provider's
 */
export async function findOrderOfPayment(database: Pick<Database, 'query'>, id: string): Promise<Order | undefined> {
  const found = await findPayment(database, id);
  return found && readOrder(database, { id: found.order_id });
}

/** Finds the id of a refund's order. */
export async function findOrderOfRefund(database: Pick<Database, 'query'>, key: string): Promise<string | undefined> {
  const [row] = await database.query<Row<typeof Refund, 'order_id'>>('select order_id from refund where key = ?', [
    key,
  ]);
  return row?.order_id;
}

async function findPayment(database: Pick<Database, 'query'>, id: string) {
  const [found] = await database.query<Row<typeof PaymentEntity, 'id' | 'order_id'>>(
    'select id, order_id from payment where id::text = lower(?) or payment_id = ? order by id::text = lower(?) desc limit 1',
    [id, id, id],
  );
  return found;
}

/**
 * Refunds the payment of an order, if only one has a refundable remainder.
 *
 * @throws CheckoutError as `refundPayment`, and `several_payments`
 */
export async function refundOrder(host: Host, orderId: string, options: RefundOptions): Promise<Refunded> {
  const order = await readOrder(host.database, { id: orderId });
  if (order === undefined) throw new CheckoutError('not_found', 'Order not found.');
  return refund(host, order.id, paymentToRefund(order).id, options);
}

/**
 * Returns the only refundable payment of an order.
 *
 * @throws CheckoutError `nothing_to_refund`, `several_payments`
 */
export function paymentToRefund(order: Order): Payment {
  const underWay = order.refunds.filter(({ state }) => state === 'asked' || state === 'sent');
  const open = order.payments.filter(
    (payment) => refundable(order, payment) > 0 || underWay.some(({ paymentId }) => paymentId === payment.id),
  );
  const [payment, other] = open;
  if (payment === undefined)
    throw new CheckoutError('nothing_to_refund', `Order ${order.code} has no payment with anything left to refund.`);
  if (other === undefined) return payment;
  const list = open.map(({ id, amount, currency, outcome }) => `${id} (${formatMoney(amount, currency)}, ${outcome})`);
  throw new CheckoutError(
    'several_payments',
    `Order ${order.code} has ${open.length} payments; name the one to refund: ${list.join(', ')}`,
  );
}

async function refund(host: Host, orderId: string, paymentId: string, options: RefundOptions): Promise<Refunded> {
  const key = await host.database.fork().transactional(async (transaction) => {
    const entered = await enterRefund(host, transaction, orderId, paymentId, options);
    if (options.isManual) await finishRefund(transaction, entered, null);
    return entered;
  });
  if (!options.isManual) await settleRefund(host, key);
  const order = await requireOrder(host, orderId);
  return { order, refund: order.refunds.find((candidate) => candidate.key === key) as OrderRefund };
}

interface Refundable extends Row<typeof PaymentEntity, 'amount' | 'currency' | 'outcome' | 'provider'> {
  readonly left: number;
  readonly others: number; // payments of its charge with money left at the provider
  readonly open: string | null; // key of the refund in progress
  readonly open_amount: number;
  readonly open_days: DaysBack;
}

async function enterRefund(
  host: Host,
  transaction: EntityManager,
  orderId: string,
  paymentId: string,
  { amount, days, reason, isManual }: RefundOptions,
): Promise<string> {
  await transaction.execute('select 1 from plan_order where id = ? for no key update', [orderId]);
  const [payment] = await transaction.execute<Refundable[]>(
    `select p.amount::float8 as amount, p.currency, p.outcome, p.provider, open.key as open, open.amount::float8 as open_amount,
       open.days as open_days, (p.amount - (
         select coalesce(sum(amount), 0) from refund r where r.payment_id = p.id and r.state <> 'failed'))::float8 as left,
       (select count(*)::int from payment o where o.reference = p.reference and o.id <> p.id
         and o.provider_reference is not distinct from p.provider_reference
         and o.amount > (select coalesce(sum(amount), 0) from refund r
           where r.payment_id = o.id and r.state <> 'failed' and not r.is_manual)) as others
     from payment p left join lateral (
       select * from refund r where r.payment_id = p.id and r.state in ('asked', 'sent') order by created_at limit 1
     ) open on true where p.id = ?`,
    [paymentId],
  );
  if (payment === undefined) throw new CheckoutError('not_found', `Payment ${paymentId} not found.`);
  if (payment.open !== null) return sameRefund(payment, payment.open, { amount, days, isManual });
  const { left, currency, outcome, others, provider } = payment;
  if (left <= 0) throw new CheckoutError('nothing_to_refund', 'All of this payment has been refunded.');
  const back = amount ?? left;
  if (!Number.isSafeInteger(back) || back < 1 || back > left)
    throw new CheckoutError('too_much', `At most ${formatMoney(left, currency)} of this payment can be refunded.`);
  if (!isManual && others > 0 && paymentConnection(host, provider).refundsCharges === true)
    throw new CheckoutError(
      'refund_unclear',
      `${titleOf(host, provider)} does not say which of the ${others + 1} payments of a charge it returns. Refund this one in its dashboard, or pay it back yourself and record that (manual).`,
    );
  const gaveDays = outcome === 'activated';
  if (!gaveDays && days !== undefined && days !== 'none')
    throw new CheckoutError('no_days', 'This payment gave no days, so none can go back with it.');
  const usual = gaveDays && back === left ? 'unused' : 'none';
  return insertRefund(transaction, { payment: paymentId, amount: back, days: days ?? usual, isManual, reason });
}

function titleOf(host: Host, provider: string): string {
  return paymentProviders(host).get(provider)?.title ?? provider;
}

/**
 * Returns the refund in progress, if the request matches it.
 *
 * @throws CheckoutError `refund_open` if it does not
 */
function sameRefund(
  { open_amount: openAmount, open_days: openDays, currency, left }: Refundable,
  key: string,
  { amount, days, isManual }: Pick<RefundOptions, 'amount' | 'days' | 'isManual'>,
): string {
  const isSame = (amount ?? openAmount + left) === openAmount && (days ?? openDays) === openDays;
  if (isSame && !isManual) return key;
  throw new CheckoutError(
    'refund_open',
    `Refund ${key} of ${formatMoney(openAmount, currency)} is under way at the provider, and would be paid twice. Wait until it is done or failed, or close it when the provider says what became of it.`,
  );
}

/**
 * Closes a refund in progress at the operator's request, if the provider does not report its result.
 *
 * @throws CheckoutError `not_found`; `not_open` if it is done or has failed
 */
export async function closeRefund(
  { database }: { readonly database: Database },
  key: string,
  outcome: 'done' | 'failed',
  note: string,
): Promise<Order> {
  const orderId = await database.fork().transactional(async (transaction) => {
    const [current] = await transaction.execute<Row<typeof Refund, 'order_id' | 'state'>[]>(
      `select order_id, state from refund where key = ?`,
      [key],
    );
    if (current === undefined) throw new CheckoutError('not_found', `Refund ${key} not found.`);
    if (current.state !== 'asked' && current.state !== 'sent')
      throw new CheckoutError('not_open', `Refund ${key} is ${current.state} already.`);
    const raw = { closed: outcome, note };
    if (outcome === 'done') await finishRefund(transaction, key, raw);
    else await failRefund(transaction, key, raw, { isFlagged: false });
    return current.order_id;
  });
  return requireOrder({ database }, orderId);
}
