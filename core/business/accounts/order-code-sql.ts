/** SQL subquery: ids of the orders whose code can be redeemed when the statement runs. */
export const openCodeOrdersSql = `(select order_id from voucher where order_id is not null and redeemed_at is null and revoked_at is null
  and expires_at > statement_timestamp())`;

/** SQL statement that revokes an order's code unless it was redeemed. Core runs it even if the plugin that redeems codes was removed. */
export const revokeCodeSql = `update voucher set revoked_at = clock_timestamp()
  where order_id = ? and redeemed_at is null and revoked_at is null`;

/**
 * SQL expression: when the days bought with a paid order `o` were credited to an account. For a gift code that was never redeemed: when it
 * was revoked or, failing that, when it expires, which may be in the future.
 */
export const deliveredAtSql = `coalesce((select coalesce(redeemed_at, revoked_at, expires_at) from voucher where order_id = o.id), o.paid_at)`;
