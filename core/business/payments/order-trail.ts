import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import type { PaymentAttempt as AttemptEntity, PaymentNotification } from './entities.ts';
import type { PaymentAttempt } from './order-types.ts';

/** An attempt to charge an order, and the number of times the provider was asked about it. */
export interface AttemptTrail extends Pick<
  PaymentAttempt,
  'reference' | 'providerReference' | 'charge' | 'amount' | 'currency' | 'expiresAt' | 'checkedAt' | 'error'
> {
  readonly state: string; // as last reported by the provider
  readonly createdAt: Date;
  readonly checks: number;
  readonly nextCheckAt: Date | undefined; // undefined once the state is final: no check follows
}

export interface NotificationTrail {
  readonly receivedAt: Date;
  readonly reference: string;
  readonly tries: number;
  readonly outcome: string | undefined; // undefined until it is processed
}

/** Lists all attempts to charge an order, oldest first. */
export async function listAttempts(database: Queries, orderId: string): Promise<AttemptTrail[]> {
  const rows = await database.query<RowOf<AttemptTrail, typeof AttemptEntity>>(
    `select reference, provider_reference, charge, state, amount::float8 as amount, currency, checks, error,
       ${epochs('created_at', 'expires_at', 'checked_at', 'next_check_at')}
     from payment_attempt where order_id = ? order by number`,
    [orderId],
  );
  return rows.map(toRecord);
}

const maxNotifications = 100;

/** Lists the newest 100 notifications about an order, oldest first, and counts the earlier ones. */
export async function listNotifications(
  database: Queries,
  orderId: string,
): Promise<{ readonly notifications: readonly NotificationTrail[]; readonly earlierCount: number }> {
  const rows = await database.query<
    RowOf<Omit<NotificationTrail, 'reference'>, typeof PaymentNotification> &
      Pick<NotificationTrail, 'reference'> & { readonly total: number }
  >(
    `select ${epochs('received_at')}, reference, tries, outcome, count(*) over ()::float8 as total from payment_notification
     where reference in (select reference from payment_attempt where order_id = ?)
     -- The column, not the alias in epoch milliseconds.
     order by payment_notification.received_at desc, id desc limit ${maxNotifications}`,
    [orderId],
  );
  const notifications = rows.map(({ total: _total, ...row }) => toRecord(row)).toReversed();
  return { notifications, earlierCount: (rows[0]?.total ?? 0) - rows.length };
}
