/** SQL subquery of the ledger entries in force: not replaced by another entry, and not empty. */
export const periodsInForce = `(
  select * from plan_period entry
  where entry.ends_at > entry.starts_at and not exists (select 1 from plan_period other where other.replaces = entry.id)
)`;

/** SQL list of the reasons of passes: purchases, vouchers and gifts. */
export const passReasons = `('order', 'voucher', 'gift')`;
