import type { Queries } from '#core/platform/database/database.ts';

export interface BookDay {
  readonly day: string; // 2026-11-22, in the accounting time zone
  readonly payments: number;
  readonly gross: number; // received for any purpose
  readonly refunds: number;
  readonly refunded: number; // through the provider or by hand
  readonly fees: number; // as reported by the providers
}

/** Sums up all money in one currency by the day on which it was received or refunded. Lists every day of the month (`2026-11`). */
export async function readMonth(
  database: Queries,
  { month, timeZone, currency }: { readonly month: string; readonly timeZone: string; readonly currency: string },
): Promise<BookDay[]> {
  return database.query<BookDay>(
    `with month as (select ?::date as first, (?::date + interval '1 month')::date as next),
       span as (select first::timestamp at time zone ? as since, next::timestamp at time zone ? as until from month),
       moved as (
         select paid_at as at, 1 as payments, amount as gross, 0 as refunds, 0 as refunded, coalesce(fee, 0) as fees
         from payment, span where currency = ? and paid_at >= since and paid_at < until
         union all
         select finished_at, 0, 0, 1, amount, 0
         from refund, span where currency = ? and state = 'done' and finished_at >= since and finished_at < until
       )
     select to_char(d, 'YYYY-MM-DD') as day, coalesce(sum(payments), 0)::float8 as payments,
       coalesce(sum(gross), 0)::float8 as gross, coalesce(sum(refunds), 0)::float8 as refunds,
       coalesce(sum(refunded), 0)::float8 as refunded, coalesce(sum(fees), 0)::float8 as fees
     from month, generate_series(first, next - 1, interval '1 day') d
       left join moved m on (m.at at time zone ?)::date = d::date
     group by d order by d`,
    [`${month}-01`, `${month}-01`, timeZone, timeZone, currency, currency, timeZone],
  );
}

export function sumDays(days: readonly BookDay[], label: string): BookDay {
  const sum = (select: (day: BookDay) => number) => days.reduce((total, each) => total + select(each), 0);
  return {
    day: label,
    payments: sum(({ payments }) => payments),
    gross: sum(({ gross }) => gross),
    refunds: sum(({ refunds }) => refunds),
    refunded: sum(({ refunded }) => refunded),
    fees: sum(({ fees }) => fees),
  };
}
