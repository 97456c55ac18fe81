/** SQL subquery for the plan periods that count, past and future ones included: those that end after they start and are not replaced. */
export const periodsInForceSql = `(
  select * from plan_period period
  where period.ends_at > period.starts_at
    and not exists (select 1 from plan_period replacement where replacement.replaces = period.id)
)`;

/** The `reason` values of passes (purchases, vouchers and gifts), as an SQL list for `in`. */
export const passReasonsSql = `('order', 'voucher', 'gift')`;
