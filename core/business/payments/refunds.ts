import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '#core/platform/database/database.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { requireOrder } from './attempts.ts';
import { CheckoutError } from './checkout-error.ts';
import { readOrder } from './order.ts';
import type { Order } from './order-types.ts';
import { finishRefund, settleRefund } from './refund-status.ts';

/** How an order is refunded. */
export interface RefundOptions {
  /** For the provider and for bookkeeping. */
  readonly reason: string;
  /** True when the operator has paid the money back outside of the provider. */
  readonly isManual: boolean;
}

/**
 * Refunds the whole payment that activated an order. When the provider has confirmed it, immediately or later (the refund is
 * `pending`), the order is refunded and the remainder of its period ends. A failed refund flags the order. A second call while a
 * refund is pending reads its status.
 *
 * @throws CheckoutError `not_found`; `not_open` when the order is not paid
 */
export async function refundOrder(host: Host, orderId: string, { reason, isManual }: RefundOptions): Promise<Order> {
  const order = await readOrder(host.database, { id: orderId });
  if (order === undefined) throw new CheckoutError('not_found', 'There is no such order.');
  const key = await host.database.fork().transactional(async (transaction) => {
    const entered = await enterRefund(transaction, order, reason, isManual);
    if (isManual) await finishRefund(transaction, order.id, order.accountId, entered, null);
    return entered;
  });
  if (!isManual) await settleRefund(host, key);
  return requireOrder(host, orderId);
}

/** @returns the key of the refund that is pending from now on */
async function enterRefund(
  transaction: EntityManager,
  { id, code }: Order,
  reason: string,
  isManual: boolean,
): Promise<string> {
  await transaction.execute('select 1 from plan_order where id = ? for no key update', [id]);
  const [paid] = await transaction.execute<{ payment_id: string; pending: string | null; number: number }[]>(
    `select p.id as payment_id, (select key from refund r where r.order_id = o.id and r.state = 'pending') as pending,
       (select count(*)::int + 1 from refund r where r.order_id = o.id) as number
     from plan_order o join payment p on p.order_id = o.id and p.outcome = 'activated'
     where o.id = ? and o.state = 'paid'`,
    [id],
  );
  if (paid === undefined) throw new CheckoutError('not_open', `Order ${code} is not paid; there is nothing to refund.`);
  if (paid.pending !== null) {
    await transaction.execute('update refund set is_manual = is_manual or ?::boolean where key = ?', [
      isManual,
      paid.pending,
    ]);
    return paid.pending;
  }
  const key = `${code}-R${paid.number}`;
  await transaction.execute(
    `insert into refund (key, order_id, payment_id, amount, currency, state, is_manual, reason, next_check_at)
     select ?, p.order_id, p.id, p.amount, p.currency, 'pending', ?::boolean, ?, clock_timestamp()
     from payment p where p.id = ?`,
    [key, isManual, reason, paid.payment_id],
  );
  return key;
}

/**
 * Marks what is unresolved as resolved. An order whose current charge was paid with another amount is cancelled then: that
 * charge takes no second payment.
 *
 * @param id of one flag, or of an order for all of its flags
 * @param resolution what was done, for bookkeeping
 * @returns the number of flags
 */
export async function resolveFlag(database: Pick<Database, 'query'>, id: string, resolution: string): Promise<number> {
  const [counted] = await database.query<{ resolved: number }>(
    `with resolved as (
       update order_flag set resolved_at = clock_timestamp(), resolution = ?
       where (id::text = ? or order_id::text = ?) and resolved_at is null returning order_id, kind
     ), cancelled as (
       update plan_order o set state = 'cancelled'
       where o.state in ('created', 'pending')
         and o.id in (select order_id from resolved where kind in ('wrong_amount', 'wrong_currency'))
         and exists (
           select 1 from payment p where p.outcome in ('wrong_amount', 'wrong_currency') and p.reference =
             (select reference from payment_attempt where order_id = o.id order by number desc limit 1))
     )
     select count(*)::int as resolved from resolved`,
    [resolution, id, id],
  );
  return counted?.resolved ?? 0;
}
