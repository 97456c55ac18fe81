import type { Database } from '#core/platform/database/database.ts';

/** What the payments wait for. */
export interface CheckCounts {
  /** Payments whose status is read again. */
  readonly attempts: number;
  /** Refunds that the provider has not confirmed. */
  readonly refunds: number;
  /** Notifications that are not processed. */
  readonly notifications: number;
}

export async function countChecks(database: Pick<Database, 'query'>): Promise<CheckCounts> {
  const [counts] = await database.query<CheckCounts>(
    `select (select count(*) from payment_attempt where next_check_at is not null)::float8 as attempts,
       (select count(*) from refund where state in ('asked', 'sent'))::float8 as refunds,
       (select count(*) from payment_notification where next_try_at is not null)::float8 as notifications`,
  );
  return counts ?? { attempts: 0, refunds: 0, notifications: 0 };
}
