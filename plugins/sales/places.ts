import type { EntityManager } from '@mikro-orm/postgresql';
import { openCodeOrdersSql } from '#core/business/accounts/order-code-sql.ts';
import { periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';
import type { Queries } from '#core/platform/database/database.ts';

/*
 * An account, not an order, holds a place: through a current or future pass, an order that may still be paid, or a reservation. A gift has
 * a place of its own from its order until an account redeems it. Only these rows determine who holds a place, so no counter can go wrong.
 * New orders and reservations count and take places under one lock. All other changes either keep a place (an open order is paid, a gift is
 * redeemed, each in one transaction) or need none: late payments, days added by the operator, other codes.
 *
 * Times use `statement_timestamp()`, because the statement begins after the wait for the lock. An index cannot serve `clock_timestamp()`.
 */

/**
 * SQL for who holds a place, one row per reason. `holder` is an account, or the order of a gift; `days` is null for days that no plan
 * provided.
 */
export const heldPlaces = `(
  select x.account_id as holder, x.days, x.kind from (
    select p.account_id, o.days, 'pass' as kind from ${periodsInForceSql} p left join plan_order o on o.id = p.order_id
    where p.ends_at > statement_timestamp()
    union all
    select account_id, days, 'order' from plan_order where state in ('created', 'pending') and not is_gift
    union all
    select account_id, days, 'reservation' from waiting_entry where ended_at is null and reserved_until > statement_timestamp()
  ) x join account a on a.id = x.account_id where a.deleted_at is null
  union all
  select id, days, 'order' from plan_order where state in ('created', 'pending') and is_gift
  union all
  select o.id, o.days, case when o.is_late then 'late gift' else 'gift' end
  from ${openCodeOrdersSql} c join plan_order o on o.id = c.order_id
)`;

/** Keeps others from taking places until the transaction ends. A caller that also locks the account must do that first. */
export async function lockPlaces(transaction: EntityManager): Promise<void> {
  await transaction.execute(`select pg_advisory_xact_lock(hashtext('sales-places'))`);
}

/** null stands for days without a plan. */
export async function listHeldPlans(database: Queries, accountId: string): Promise<(number | null)[]> {
  const rows = await database.query<{ days: number | null }>(
    `select distinct days from ${heldPlaces} h where holder = ?`,
    [accountId],
  );
  return rows.map(({ days }) => days);
}
