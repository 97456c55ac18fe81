/** SQL subquery for the periods in force, whether past, current or future: those with a positive length that no other period replaces. */
export const periodsInForce = `(
  select * from plan_period entry
  where entry.ends_at > entry.starts_at and not exists (select 1 from plan_period other where other.replaces = entry.id)
)`;

/** The `reason` values of passes (purchases, vouchers and gifts), as an SQL list for `in`. */
export const passReasons = `('order', 'voucher', 'gift')`;
