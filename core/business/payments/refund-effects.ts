import type { EntityManager } from '@mikro-orm/postgresql';
import type { Fields } from '#core/platform/database/rows.ts';
import { recordEvent } from '../accounts/account-events.ts';
import { endOrderPeriod, revokeOrderDays } from '../accounts/ledger.ts';
import { revokeCodeSql } from '../accounts/order-code-sql.ts';
import type { Payment, Refund } from './entities.ts';
import { flagOrder, resolveFlags } from './flags.ts';
import { orderReason } from './order-reason.ts';
import type { FlagKind, OrderRefund, OrderState } from './order-types.ts';
import { storeRefundReceipt } from './receipts.ts';
import { toEpoch, statedTimeSql } from './stated-time.ts';
import { toStoredJson } from './stored-json.ts';

/*
 * What a refund changes, in the transaction that reports it. The caller may already hold the order's lock. As in `settle`, the order is
 * locked before the account.
 */

interface FinishedRefund
  extends
    Fields<typeof Refund, 'key' | 'days' | 'currency'>,
    Fields<typeof Payment, 'amount' | 'paymentId' | 'outcome'> {
  readonly payment: string; // our id; `paymentId` is the provider's
  readonly refundAmount: number; // amount of this refund only
  readonly orderId: string;
  readonly accountId: string;
  readonly orderState: OrderState;
  readonly isGift: boolean;
  readonly refundedTotal: number; // total refunded of the payment, including this refund
  readonly areDaysRevoked: boolean; // another refund has already taken back all of the payment's days
}

const requestTimeSql = `date_trunc('second', created_at)`; // providers report whole seconds

const flagsResolvedByFullRefund: readonly FlagKind[] = [
  'wrong_amount',
  'wrong_currency',
  'second_payment',
  'wrong_reference',
  'disputed',
  'reversed',
];

/**
 * Finishes a refund whose money was returned. Its days are taken back exactly once, by the first process that sees the result. The order
 * becomes `refunded` once the payment that activated it is refunded in full. A refund that failed may still be reported as done later.
 *
 * @param raw the provider's report; null if an operator reported it
 * @param details the reported time of the refund, and whether the gateway requested it; if it did, a time before the request is ignored
 */
export async function finishRefund(
  transaction: EntityManager,
  key: string,
  raw: unknown,
  { at, isRequested = true }: { readonly at?: Date | undefined; readonly isRequested?: boolean } = {},
): Promise<void> {
  if (!(await lockOrderOfRefund(transaction, key))) return;
  const timeSql = statedTimeSql('clock_timestamp()', isRequested ? { earliest: requestTimeSql } : {});
  const [finished] = await transaction.execute<FinishedRefund[]>(
    `with finished as (
       update refund set state = 'done', raw = coalesce(?::json, raw), next_check_at = null,
         finished_at = ${timeSql}
       where key = ? and state <> 'done' returning *
     )
     select r.key, r.days, r.currency, r.amount::float8 as "refundAmount",
       p.id as payment, p.amount::float8 as amount, p.payment_id as "paymentId", p.outcome,
       o.id as "orderId", o.account_id as "accountId", o.state as "orderState", o.is_gift as "isGift",
       (r.amount + (select coalesce(sum(amount), 0) from refund d
         where d.payment_id = p.id and d.state = 'done' and d.key <> r.key))::float8 as "refundedTotal",
       exists (select 1 from refund d where d.payment_id = p.id and d.state = 'done' and d.days = 'whole' and d.key <> r.key)
         as "areDaysRevoked"
     from finished r join payment p on p.id = r.payment_id join plan_order o on o.id = r.order_id`,
    [raw === null ? null : toStoredJson(raw), toEpoch(at), key],
  );
  if (finished !== undefined) await applyRefund(transaction, finished);
}

async function applyRefund(transaction: EntityManager, finished: FinishedRefund): Promise<void> {
  const { orderId, accountId, amount, refundAmount, currency, refundedTotal, outcome, paymentId, key } = finished;
  const payload = { orderId, accountId, refund: key, amount: refundAmount, currency };
  await recordEvent(transaction, 'payment.refunded', payload, `payment.refunded:${key}`);
  if (outcome === 'activated') await takeDaysBack(transaction, finished);
  await storeRefundReceipt(transaction, key);
  if (outcome === 'activated' && refundedTotal >= amount && finished.orderState === 'paid') {
    await transaction.execute(`update plan_order set state = 'refunded' where id = ?`, [orderId]);
    await recordRefunded(transaction, orderId, accountId);
  }
  if (refundedTotal > amount) await flagOrder(transaction, finished, 'refunded_twice', paymentId);
  await resolveRefundedFlags(transaction, finished, orderReason('orders.reason.refunded', { refund: key }));
}

async function takeDaysBack(transaction: EntityManager, finished: FinishedRefund): Promise<void> {
  const { days, orderId, key, areDaysRevoked, isGift } = finished;
  if (days === 'none') return;
  // Does not lock a redeemed code, because a redemption locks the account before the code.
  if (isGift) await transaction.execute(revokeCodeSql, [orderId]);
  const holder = isGift ? await findHolder(transaction, orderId) : finished.accountId;
  if (holder === undefined) return;
  if (days === 'whole' && !areDaysRevoked) await revokeOrderDays(transaction, holder, orderId, `refund ${key}`);
  else await endOrderPeriod(transaction, holder, orderId);
}

async function findHolder(transaction: EntityManager, orderId: string): Promise<string | undefined> {
  const [entry] = await transaction.execute<{ account_id: string }[]>(
    `select account_id from plan_period where order_id = ? and reason in ('order', 'gift')`,
    [orderId],
  );
  return entry?.account_id;
}

export async function recordRefunded(transaction: EntityManager, orderId: string, accountId: string): Promise<void> {
  await recordEvent(transaction, 'order.refunded', { orderId, accountId }, `order.refunded:${orderId}`);
}

async function resolveRefundedFlags(
  transaction: EntityManager,
  { orderId, key, payment, paymentId, amount, refundedTotal, outcome }: FinishedRefund,
  resolution: string,
): Promise<void> {
  const repeatedRefunds = await transaction.execute<{ subject: string }[]>(
    `select f.key as subject from refund f where f.payment_id = ? and f.state = 'failed' and f.amount <=
       (select sum(d.amount) from refund d where d.payment_id = f.payment_id and d.state = 'done' and d.finished_at >= f.finished_at)`,
    [payment],
  );
  const flags: { kind: FlagKind; subject: string }[] = [
    { kind: 'refund_unconfirmed', subject: key },
    ...repeatedRefunds.map(({ subject }) => ({ kind: 'refund_failed' as const, subject })),
  ];
  if (refundedTotal >= amount) {
    for (const kind of flagsResolvedByFullRefund) flags.push({ kind, subject: paymentId });
    if (outcome === 'activated')
      for (const kind of ['deleted_account', 'gift_without_code'] as const) flags.push({ kind, subject: '' });
  }
  await resolveFlags(transaction, orderId, flags, resolution);
}

export async function failRefund(
  transaction: EntityManager,
  key: string,
  raw: unknown,
  { isFlagged = true }: { readonly isFlagged?: boolean } = {},
): Promise<void> {
  const failed = await endPendingRefund(transaction, key, raw, `state = 'failed', finished_at = clock_timestamp()`);
  if (failed === undefined) return;
  const resolution = orderReason('orders.reason.failed', { refund: key });
  await resolveFlags(transaction, failed.orderId, [{ kind: 'refund_unconfirmed', subject: key }], resolution);
  if (isFlagged) await flagOrder(transaction, failed, 'refund_failed', key);
}

/** Abandons a refund that the provider has neither confirmed nor rejected for too long. */
export async function abandonRefund(transaction: EntityManager, key: string, raw: unknown): Promise<void> {
  const unconfirmed = await endPendingRefund(transaction, key, raw, 'state = r.state');
  if (unconfirmed !== undefined) await flagOrder(transaction, unconfirmed, 'refund_unconfirmed', key);
}

async function endPendingRefund(transaction: EntityManager, key: string, raw: unknown, changesSql: string) {
  if (!(await lockOrderOfRefund(transaction, key))) return undefined;
  const [order] = await transaction.execute<{ orderId: string; accountId: string }[]>(
    `update refund r set ${changesSql}, raw = ?::json, next_check_at = null
     from plan_order o where r.key = ? and r.state in ('asked', 'sent') and o.id = r.order_id
     returning r.order_id as "orderId", o.account_id as "accountId"`,
    [toStoredJson(raw), key],
  );
  return order;
}

async function lockOrderOfRefund(transaction: EntityManager, key: string): Promise<boolean> {
  const lockedRows = await transaction.execute<unknown[]>(
    'select 1 from plan_order where id = (select order_id from refund where key = ?) for no key update',
    [key],
  );
  return lockedRows.length > 0;
}

interface NewRefund extends Pick<OrderRefund, 'paymentId' | 'amount' | 'days' | 'isManual' | 'reason'> {
  readonly providerRefundId?: string | undefined;
}

/** Inserts a requested refund, whose status is due to be checked immediately. The caller must have locked the order. Returns its key. */
export async function insertRefund(
  transaction: EntityManager,
  { paymentId, amount, days, isManual, reason, providerRefundId }: NewRefund,
): Promise<string> {
  const [inserted] = await transaction.execute<{ key: string }[]>(
    `insert into refund (key, order_id, payment_id, amount, currency, state, days, is_manual, reason, provider_refund_id,
       next_check_at)
     select o.code || '-R' || (select count(*) + 1 from refund r where r.order_id = o.id), o.id, p.id, ?, p.currency, 'asked',
       ?, ?::boolean, ?, ?, clock_timestamp()
     from payment p join plan_order o on o.id = p.order_id where p.id = ? returning key`,
    [amount, days, isManual, reason, providerRefundId ?? null, paymentId],
  );
  if (inserted === undefined) throw new Error(`payment ${paymentId} not found`);
  return inserted.key;
}
