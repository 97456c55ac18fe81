import { deliveredAtSql } from '#core/business/accounts/order-code-sql.ts';
import { periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';
import { formatTimestamp } from '#core/gateway/records/filter.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { type ExactMoney, fromSmallestUnit, type Timespan, prorate } from './exact-money.ts';
import type { PlanName } from './read-usage.ts';

/**
 * The revenue of an order and the period over which it is earned, which is that of its days. The days belong to the account that redeemed
 * the order's code, if it has one. A code that is never redeemed is earned when it expires or is withdrawn, not before.
 */
export interface Earning {
  readonly account: string; // that has the days, or the buyer if there are none
  readonly plan: PlanName;
  readonly kept: ExactMoney; // amount paid minus refunds
  readonly price: ExactMoney; // paid for the order
  readonly period: Timespan; // in force; of zero length if the order has no time left
}

const epochMs = (time: string) => `floor(extract(epoch from ${time}) * 1000)::float8`;

export async function readEarnings(database: Queries, currency: string, { from, until }: Timespan): Promise<Earning[]> {
  const rows = await database.query<EarningRow>(
    `with paid as (
       select o.id, o.account_id, o.days, o.price, p.id as payment_id, p.amount, ${deliveredAtSql} as moment
       from plan_order o join payment p on p.order_id = o.id and p.outcome = 'activated'
       where p.currency = ? and o.currency = p.currency and o.paid_at < ?::timestamptz
     )
     select coalesce(period.account_id, paid.account_id) as account, paid.days::text as plan, price::float8 as price,
       (amount - coalesce((select sum(r.amount) from refund r where r.payment_id = paid.payment_id and r.state = 'done'), 0))::float8
         as kept,
       ${epochMs('coalesce(starts_at, moment)')} as from, ${epochMs('coalesce(ends_at, moment)')} as until
     from paid left join (
       -- Time that was given back after its end earns nothing.
       select distinct on (order_id) * from ${periodsInForceSql} p where order_id is not null order by order_id, starts_at
     ) period on period.order_id = paid.id
     where coalesce(ends_at, moment) >= ?::timestamptz and coalesce(starts_at, moment) < ?::timestamptz`,
    [currency, formatTimestamp(until), formatTimestamp(from), formatTimestamp(until)],
  );
  return rows.map(({ account, plan, kept, price, ...period }) => ({
    account,
    plan,
    kept: fromSmallestUnit(kept, currency),
    price: fromSmallestUnit(price, currency),
    period,
  }));
}

type EarningRow = Pick<Earning, 'account' | 'plan'> & Readonly<Record<'price' | 'kept', number>> & Timespan;

/** An order's money is spread evenly over its period. */
export function computeEarned({ kept, period }: Pick<Earning, 'kept' | 'period'>, span: Timespan): ExactMoney {
  return prorate(kept, period, span);
}

/** The refunded share of the price stays the same. */
export function computeEarnedAtPrice(
  { kept, price, period }: Earning,
  otherPrice: ExactMoney,
  span: Timespan,
): ExactMoney {
  return prorate((kept * otherPrice) / price, period, span);
}
