import type { Queries } from '#core/platform/database/database.ts';

/*
 * Revenue is all money received less refunds, as in the monthly books (`plugins/books`). It includes second payments and wrong amounts that
 * were kept.
 */

/** Revenue on one day in one currency. */
export interface DailyRevenue {
  readonly day: string; // `2026-11-22`, in the requested time zone
  /** Payments received less refunds finished on that day, in the currency's smallest unit. Negative if refunds exceed payments. */
  readonly amount: number;
  readonly orders: number; // activated by a payment received on that day
}

/** Returns what an account has paid in one currency, less its refunds, and how many of its orders were activated. */
export async function readAccountRevenue(
  database: Queries,
  accountId: string,
  currency: string,
): Promise<{ readonly amount: number; readonly orders: number }> {
  const [row] = await database.query<{ amount: number; orders: number }>(
    `with paid as (
       select p.id, p.amount, p.outcome from payment p join plan_order o on o.id = p.order_id
       where o.account_id = ? and p.currency = ?
     )
     select (coalesce(sum(amount), 0) - coalesce((
         select sum(r.amount) from refund r join paid on paid.id = r.payment_id where r.state = 'done'
       ), 0))::float8 as amount, count(*) filter (where outcome = 'activated')::float8 as orders
     from paid`,
    [accountId, currency],
  );
  return row ?? { amount: 0, orders: 0 };
}

/**
 * Reads the revenue on each of the last days up to today, oldest first. Days without revenue are included, as zeros.
 *
 * @param days number of days including today, at most 400
 */
export async function readRevenue(
  database: Queries,
  { currency, timeZone, days }: { readonly currency: string; readonly timeZone: string; readonly days: number },
): Promise<DailyRevenue[]> {
  return database.query<DailyRevenue>(
    `with span as (select (clock_timestamp() at time zone ?)::date as today),
       first as (select (today - ?::integer)::timestamp at time zone ? as at from span),
       moved as (
         select (paid_at at time zone ?)::date as day, amount, (outcome = 'activated')::int as orders
         from payment, first where currency = ? and paid_at >= first.at
         union all
         select (finished_at at time zone ?)::date, -amount, 0
         from refund, first where state = 'done' and currency = ? and finished_at >= first.at
       )
     select to_char(d, 'YYYY-MM-DD') as day, coalesce(sum(m.amount), 0)::float8 as amount,
       coalesce(sum(m.orders), 0)::float8 as orders
     from span, generate_series(today - ?::integer, today, interval '1 day') d left join moved m on m.day = d::date
     group by d order by d`,
    [timeZone, days - 1, timeZone, timeZone, currency, timeZone, currency, days - 1],
  );
}
