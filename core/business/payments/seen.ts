import type { Database } from '#core/platform/database/database.ts';

/** True while a notification about this order has arrived and has not been decided on: buyers should not pay again. */
export async function isPaymentSeen(database: Pick<Database, 'query'>, orderId: string): Promise<boolean> {
  const [row] = await database.query<{ is_seen: boolean }>(
    `select exists (
       select 1 from payment_notification n join payment_attempt a on a.reference = n.reference
       where n.next_try_at is not null and a.order_id = ?
     ) as is_seen`,
    [orderId],
  );
  return row?.is_seen === true;
}
