import type { EntityManager } from '@mikro-orm/postgresql';
import type { Transactions } from '#core/platform/database/database.ts';
import { epochs, type Row } from '#core/platform/database/rows.ts';
import { recordEvent } from '../accounts/account-events.ts';
import type { PlanOrder } from './entities.ts';

type ExpiredOrder = Row<typeof PlanOrder, 'id' | 'account_id' | 'expires_at'>;

export async function expireOrder(database: Transactions, orderId: string): Promise<void> {
  await expireOrders(database, 'id = ? and expires_at <= clock_timestamp()', [orderId]);
}

/** Expires orders past their deadline that no check will reach, for example because their last charge was rejected. */
export async function expireUncheckedOrders(database: Transactions): Promise<void> {
  await expireOrders(
    database,
    `expires_at < clock_timestamp() - interval '5 min'
       and not exists (select 1 from payment_attempt a where a.order_id = o.id and a.next_check_at is not null)`,
  );
}

async function expireOrders(database: Transactions, condition: string, values: readonly unknown[] = []) {
  await database.fork().transactional(async (transaction) => {
    const orders = await transaction.execute<ExpiredOrder[]>(
      `update plan_order o set state = 'expired' where state in ('created', 'pending') and ${condition}
       returning id, account_id, ${epochs('expires_at')}`,
      [...values],
    );
    for (const order of orders) await recordExpiryEvent(transaction, order);
  });
}

/** Records that an order has expired, once per deadline. Runs in the transaction that expires it. */
export async function recordExpiry(transaction: EntityManager, orderId: string): Promise<void> {
  const [order] = await transaction.execute<ExpiredOrder[]>(
    `select id, account_id, ${epochs('expires_at')} from plan_order where id = ?`,
    [orderId],
  );
  if (order !== undefined) await recordExpiryEvent(transaction, order);
}

async function recordExpiryEvent(transaction: EntityManager, order: ExpiredOrder): Promise<void> {
  const { id, account_id: accountId, expires_at: deadline } = order;
  await recordEvent(transaction, 'order.expired', { orderId: id, accountId }, `order.expired:${id}:${deadline}`);
}
