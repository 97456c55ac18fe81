import type { Database } from '#core/platform/database/database.ts';

/** One attempt to have an order paid, with its checks at the provider. */
export interface AttemptTrail {
  readonly reference: string;
  readonly providerReference: string | undefined;
  readonly charge: string;
  /** That the provider stated last. */
  readonly state: string;
  readonly amount: number;
  readonly currency: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly checks: number;
  readonly checkedAt: Date | undefined;
  /** Undefined when the attempt is not checked any more. */
  readonly nextCheckAt: Date | undefined;
  readonly error: string | undefined;
}

/** A notification of the provider about one of the attempts. */
export interface NotificationTrail {
  readonly receivedAt: Date;
  readonly reference: string;
  readonly tries: number;
  /** Undefined while it is not processed. */
  readonly outcome: string | undefined;
}

/** All attempts of an order, the oldest first. */
export async function listAttempts(database: Pick<Database, 'query'>, orderId: string): Promise<AttemptTrail[]> {
  const rows = await database.query<AttemptTrailRow>(
    `select reference, provider_reference, charge, state, amount::float8 as amount, currency, checks, error,
       ${epoch('created_at')} as created_at, ${epoch('expires_at')} as expires_at, ${epoch('checked_at')} as checked_at,
       ${epoch('next_check_at')} as next_check_at
     from payment_attempt where order_id = ? order by number`,
    [orderId],
  );
  return rows.map((row) => ({
    reference: row.reference,
    providerReference: row.provider_reference ?? undefined,
    charge: row.charge,
    state: row.state,
    amount: row.amount,
    currency: row.currency,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    checks: row.checks,
    checkedAt: toDate(row.checked_at),
    nextCheckAt: toDate(row.next_check_at),
    error: row.error ?? undefined,
  }));
}

interface AttemptTrailRow {
  readonly reference: string;
  readonly provider_reference: string | null;
  readonly charge: string;
  readonly state: string;
  readonly amount: number;
  readonly currency: string;
  readonly checks: number;
  readonly error: string | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly checked_at: number | null;
  readonly next_check_at: number | null;
}

/** Notifications about an order, the oldest first; at most 100. */
export async function listNotifications(
  database: Pick<Database, 'query'>,
  orderId: string,
): Promise<NotificationTrail[]> {
  const rows = await database.query<{ received_at: number; reference: string; tries: number; outcome: string | null }>(
    `select ${epoch('received_at')} as received_at, reference, tries, outcome from payment_notification
     where reference in (select reference from payment_attempt where order_id = ?)
     order by received_at, id limit 100`,
    [orderId],
  );
  return rows.map(({ received_at: receivedAt, reference, tries, outcome }) => ({
    receivedAt: new Date(receivedAt),
    reference,
    tries,
    outcome: outcome ?? undefined,
  }));
}

function epoch(expression: string): string {
  return `(extract(epoch from ${expression}) * 1000)::float8`;
}

function toDate(time: number | null): Date | undefined {
  return time === null ? undefined : new Date(time);
}
