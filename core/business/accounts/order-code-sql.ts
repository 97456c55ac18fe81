/** SQL subquery: ids of the orders whose code can be redeemed at the time of the statement. */
export const openCodeOrdersSql = `(select order_id from voucher where order_id is not null and redeemed_at is null and revoked_at is null
  and expires_at > statement_timestamp())`;

/** SQL statement that revokes the code of an order unless it was redeemed. Also run without the plugin that redeems codes. */
export const revokeCodeSql = `update voucher set revoked_at = clock_timestamp()
  where order_id = ? and redeemed_at is null and revoked_at is null`;

/**
 * SQL expression: time at which the days of a paid order `o` reached an account. For a gift code that was not redeemed: time at which it was
 * revoked, otherwise at which it expires.
 */
export const deliveredAtSql = `coalesce((select coalesce(redeemed_at, revoked_at, expires_at) from voucher where order_id = o.id), o.paid_at)`;
