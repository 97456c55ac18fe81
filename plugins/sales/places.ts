import type { EntityManager } from '@mikro-orm/postgresql';
import { periodsInForce } from '#core/business/accounts/periods-in-force.ts';
import type { Database } from '#core/platform/database/database.ts';
import { openCodes } from '#core/business/accounts/code-times.ts';

/*
 * A place is held by an account, not by an order: with a pass that runs or is to run, with an order that may still be paid, or with a
 * reservation. A gift holds a separate one from the order until an account redeems it. Nothing but these rows says who holds one,
 * so no count of places can be wrong. A new order and a reservation take a place under one lock, after counting under it. Everything
 * else either keeps a place (an open order that is paid, a gift that is redeemed, each in one transaction) or does not ask for one:
 * money that came late, days that the operator adds, other codes.
 *
 * Times are those of the statement, which begins after the wait for the lock, and not `clock_timestamp()`, which no index serves.
 */

/**
 * Who holds a place, in as many rows as there are reasons: `holder` is an account, or the order of a gift; `days` is null for days
 * that no plan brought.
 */
export const heldPlaces = `(
  select x.account_id as holder, x.days, x.kind from (
    select p.account_id, o.days, 'pass' as kind from ${periodsInForce} p left join plan_order o on o.id = p.order_id
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
  from ${openCodes} c join plan_order o on o.id = c.order_id
)`;

/** Makes other takers of places wait until the transaction ends. Lock the account first, where both are locked. */
export async function lockPlaces(transaction: EntityManager): Promise<void> {
  await transaction.execute(`select pg_advisory_xact_lock(hashtext('sales-places'))`);
}

/** Places that an account holds, by the days of their plans; null for days that no plan brought. Empty: no place. */
export async function placesOf(database: Pick<Database, 'query'>, accountId: string): Promise<(number | null)[]> {
  const rows = await database.query<{ days: number | null }>(
    `select distinct days from ${heldPlaces} h where holder = ?`,
    [accountId],
  );
  return rows.map(({ days }) => days);
}
