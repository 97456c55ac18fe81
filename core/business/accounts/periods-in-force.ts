/**
 * The entries of the ledger that count, as a subquery: those that no other entry replaces, without those of which nothing is
 * left.
 */
export const periodsInForce = `(
  select * from plan_period one
  where one.ends_at > one.starts_at and not exists (select 1 from plan_period other where other.replaces = one.id)
)`;

/** Reasons of entries by which an account got a pass that was bought or came with a code, as an SQL list. */
export const passReasons = `('order', 'voucher', 'gift')`;
