import type { Database } from '#core/platform/database/database.ts';

/** Rows that are deleted in one statement. */
const runToEnd = 1_000;

/**
 * Removes notifications that were processed and are older than so many days, in batches. Those of an order with an unresolved
 * flag stay. Their effects are in `payment` and `refund`, which are kept permanently.
 *
 * @returns the number of notifications
 */
export async function removeOldNotifications(database: Pick<Database, 'query'>, days: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const batch = await database.query<unknown>(
      `delete from payment_notification where id = any(array(
         select n.id from payment_notification n
         where n.next_try_at is null and n.received_at < clock_timestamp() - make_interval(days => ?)
           and not exists (
             select 1 from payment_attempt a join order_flag f on f.order_id = a.order_id and f.resolved_at is null
             where a.reference = n.reference or (a.provider = n.provider and a.provider_reference = n.provider_reference))
         order by n.received_at limit ${runToEnd}
       )) returning 1`,
      [days],
    );
    removed += batch.length;
    if (batch.length < runToEnd) return removed;
  }
}
