import type { Host } from '#core/gateway/host/host.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { PaymentAttempt } from './entities.ts';

/** The job that checks one payment. */
export const checkJob = 'check-payment';

/**
 * Enqueues the next check of an attempt for the time that the database has for it. The queue only carries the schedule: what
 * it loses, a sweep finds.
 */
export async function enqueueCheck(
  { database, jobs }: Pick<Host, 'database' | 'jobs'>,
  reference: string,
): Promise<void> {
  const [due] = await database.query<Row<typeof PaymentAttempt, 'checks'> & { delay: number }>(
    `select checks, greatest(0, extract(epoch from next_check_at - clock_timestamp()))::float8 as delay
     from payment_attempt where reference = ? and next_check_at is not null`,
    [reference],
  );
  if (due === undefined) return;
  const id = `${checkJob}-${reference}-${due.checks}`;
  // The queue has its own log of outages.
  await jobs.add(checkJob, { reference }, { id, delay: due.delay }).catch(() => undefined);
}
