import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../accounts/account-events.ts';
import { withdrawCode } from '../accounts/code-times.ts';
import { endOrderPeriod, revokeOrderDays } from '../accounts/ledger.ts';
import { flagOrder, resolveFlags } from './flags.ts';
import { orderReason } from './order-reason.ts';
import { storeRefundReceipt } from './receipts.ts';
import type { DaysBack, FlagKind, OrderState } from './order-types.ts';
import { epochOf, statedTime } from './stated-time.ts';
import { toStoredJson } from './stored-json.ts';
import type { Fields } from '#core/platform/database/rows.ts';
import type { Payment, Refund } from './entities.ts';

/*
 * Effects of a refund, within the transaction that reports it. The caller may hold the order's lock; locks are taken in the order: order,
 * account, as in `settle`.
 */

interface Finished
  extends
    Fields<typeof Refund, 'key' | 'days' | 'currency'>,
    Fields<typeof Payment, 'amount' | 'paymentId' | 'outcome'> {
  readonly payment: string;
  readonly refunded: number; // by this refund alone
  readonly orderId: string;
  readonly accountId: string;
  readonly orderState: OrderState;
  readonly isGift: boolean;
  readonly back: number; // of the payment in total, including this refund
  readonly isTakenBack: boolean; // another refund has taken back the days in full
}

const askedAt = `date_trunc('second', created_at)`; // providers report whole seconds

/** Flags that need no decision once the whole payment is refunded. */
const decidedByRefund: readonly FlagKind[] = [
  'wrong_amount',
  'wrong_currency',
  'second_payment',
  'wrong_reference',
  'disputed',
  'reversed',
];

/**
 * Finishes a refund whose money is back. Takes its days back once, in the process that sees it first. The order is refunded once the
 * payment that activated it is fully refunded. A refund that failed here may be reported as done later.
 *
 * @param raw the provider's report; null if the operator reported it
 * @param stated time of the refund at the provider, if reported, and whether the gateway requested it: a time before that request is then
 * ignored
 */
export async function finishRefund(
  transaction: EntityManager,
  key: string,
  raw: unknown,
  { at, isAsked = true }: { readonly at?: Date | undefined; readonly isAsked?: boolean } = {},
): Promise<void> {
  if (!(await lockOrder(transaction, key))) return;
  const time = isAsked ? statedTime('clock_timestamp()', { earliest: askedAt }) : statedTime('clock_timestamp()');
  const [finished] = await transaction.execute<Finished[]>(
    `with finished as (
       update refund set state = 'done', raw = coalesce(?::json, raw), next_check_at = null,
         finished_at = ${time}
       where key = ? and state <> 'done' returning *
     )
     select r.key, r.days, r.currency, r.amount::float8 as refunded,
       p.id as payment, p.amount::float8 as amount, p.payment_id as "paymentId", p.outcome,
       o.id as "orderId", o.account_id as "accountId", o.state as "orderState", o.is_gift as "isGift",
       (r.amount + (select coalesce(sum(amount), 0) from refund d
         where d.payment_id = p.id and d.state = 'done' and d.key <> r.key))::float8 as back,
       exists (select 1 from refund d where d.payment_id = p.id and d.state = 'done' and d.days = 'whole' and d.key <> r.key)
         as "isTakenBack"
     from finished r join payment p on p.id = r.payment_id join plan_order o on o.id = r.order_id`,
    [raw === null ? null : toStoredJson(raw), epochOf(at), key],
  );
  if (finished !== undefined) await applyRefund(transaction, finished);
}

async function applyRefund(transaction: EntityManager, finished: Finished): Promise<void> {
  const { orderId, accountId, amount, refunded, currency, back, outcome, paymentId, key } = finished;
  const about = { orderId, accountId, refund: key, amount: refunded, currency };
  await recordEvent(transaction, 'payment.refunded', about, `payment.refunded:${key}`);
  if (outcome === 'activated') await takeDays(transaction, finished);
  await storeRefundReceipt(transaction, key);
  if (outcome === 'activated' && back >= amount && finished.orderState === 'paid') {
    await transaction.execute(`update plan_order set state = 'refunded' where id = ?`, [orderId]);
    await recordRefunded(transaction, orderId, accountId);
  }
  if (back > amount) await flagOrder(transaction, finished, 'refunded_twice', paymentId);
  await resolveRefunded(transaction, finished, orderReason('orders.reason.refunded', { refund: key }));
}

/** Withdraws the days from their holder: the buyer or the gift's redeemer. An unredeemed gift's code is revoked. */
async function takeDays(transaction: EntityManager, finished: Finished): Promise<void> {
  const { days, orderId, key, isTakenBack, isGift } = finished;
  if (days === 'none') return;
  // A redemption locks account, then code, so this locks no redeemed code.
  if (isGift) await transaction.execute(withdrawCode, [orderId]);
  const holder = isGift ? await findHolder(transaction, orderId) : finished.accountId;
  if (holder === undefined) return;
  if (days === 'whole' && !isTakenBack) await revokeOrderDays(transaction, holder, orderId, `refund ${key}`);
  else await endOrderPeriod(transaction, holder, orderId);
}

async function findHolder(transaction: EntityManager, orderId: string): Promise<string | undefined> {
  const [entry] = await transaction.execute<{ account_id: string }[]>(
    `select account_id from plan_period where order_id = ? and reason in ('order', 'gift')`,
    [orderId],
  );
  return entry?.account_id;
}

/** Records that an order has been refunded, once. */
export async function recordRefunded(transaction: EntityManager, orderId: string, accountId: string): Promise<void> {
  await recordEvent(transaction, 'order.refunded', { orderId, accountId }, `order.refunded:${orderId}`);
}

/** Resolves flags about a fully refunded payment, and about failed refunds whose amount has been refunded since. */
async function resolveRefunded(
  transaction: EntityManager,
  { orderId, key, payment, paymentId, amount, back, outcome }: Finished,
  resolution: string,
): Promise<void> {
  const repaired = await transaction.execute<{ subject: string }[]>(
    `select f.key as subject from refund f where f.payment_id = ? and f.state = 'failed' and f.amount <=
       (select sum(d.amount) from refund d where d.payment_id = f.payment_id and d.state = 'done' and d.finished_at >= f.finished_at)`,
    [payment],
  );
  const flags: { kind: FlagKind; subject: string }[] = [
    { kind: 'refund_unconfirmed', subject: key },
    ...repaired.map(({ subject }) => ({ kind: 'refund_failed' as const, subject })),
  ];
  if (back >= amount) {
    for (const kind of decidedByRefund) flags.push({ kind, subject: paymentId });
    if (outcome === 'activated')
      for (const kind of ['deleted_account', 'gift_without_code'] as const) flags.push({ kind, subject: '' });
  }
  await resolveFlags(transaction, orderId, flags, resolution);
}

/** Records a failed refund and notifies the operator. The money can then be refunded in another way. */
export async function failRefund(
  transaction: EntityManager,
  key: string,
  raw: unknown,
  { isFlagged = true }: { readonly isFlagged?: boolean } = {},
): Promise<void> {
  if (!(await lockOrder(transaction, key))) return;
  const [failed] = await transaction.execute<{ orderId: string; accountId: string }[]>(
    `update refund r set state = 'failed', raw = ?::json, next_check_at = null, finished_at = clock_timestamp()
     from plan_order o where r.key = ? and r.state in ('asked', 'sent') and o.id = r.order_id
     returning r.order_id as "orderId", o.account_id as "accountId"`,
    [toStoredJson(raw), key],
  );
  if (failed === undefined) return;
  const resolution = orderReason('orders.reason.failed', { refund: key });
  await resolveFlags(transaction, failed.orderId, [{ kind: 'refund_unconfirmed', subject: key }], resolution);
  if (isFlagged) await flagOrder(transaction, failed, 'refund_failed', key);
}

/** Stops asking about a refund that the provider has neither confirmed nor refused for too long, and notifies the operator. */
export async function leaveRefund(transaction: EntityManager, key: string, raw: unknown): Promise<void> {
  if (!(await lockOrder(transaction, key))) return;
  const [left] = await transaction.execute<{ orderId: string; accountId: string }[]>(
    `update refund r set raw = ?::json, next_check_at = null
     from plan_order o where r.key = ? and r.state in ('asked', 'sent') and o.id = r.order_id
     returning r.order_id as "orderId", o.account_id as "accountId"`,
    [toStoredJson(raw), key],
  );
  if (left !== undefined) await flagOrder(transaction, left, 'refund_unconfirmed', key);
}

/**
 * Locks the order of a refund.
 *
 * @returns false if there is no such refund
 */
async function lockOrder(transaction: EntityManager, key: string): Promise<boolean> {
  const locked = await transaction.execute<unknown[]>(
    'select 1 from plan_order where id = (select order_id from refund where key = ?) for no key update',
    [key],
  );
  return locked.length > 0;
}

interface NewRefund {
  readonly payment: string; // id
  readonly amount: number;
  readonly days: DaysBack;
  readonly isManual: boolean;
  readonly reason: string;
  readonly providerRefundId?: string | undefined;
}

/**
 * Enters a requested refund, due at once. The caller has locked the order.
 *
 * @returns its key
 */
export async function insertRefund(
  transaction: EntityManager,
  { payment, amount, days, isManual, reason, providerRefundId }: NewRefund,
): Promise<string> {
  const [entered] = await transaction.execute<{ key: string }[]>(
    `insert into refund (key, order_id, payment_id, amount, currency, state, days, is_manual, reason, provider_refund_id,
       next_check_at)
     select o.code || '-R' || (select count(*) + 1 from refund r where r.order_id = o.id), o.id, p.id, ?, p.currency, 'asked',
       ?, ?::boolean, ?, ?, clock_timestamp()
     from payment p join plan_order o on o.id = p.order_id where p.id = ? returning key`,
    [amount, days, isManual, reason, providerRefundId ?? null, payment],
  );
  if (entered === undefined) throw new Error(`payment ${payment} not found`);
  return entered.key;
}
