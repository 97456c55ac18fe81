/** SQL subquery of the ledger entries in force, which are not empty and not replaced by another entry. */
export const periodsInForce = `(
  select * from plan_period entry
  where entry.ends_at > entry.starts_at and not exists (select 1 from plan_period other where other.replaces = entry.id)
)`;

/** SQL list of the reasons of ledger entries that are passes: purchases, vouchers and gifts. */
export const passReasons = `('order', 'voucher', 'gift')`;
