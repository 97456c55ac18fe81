import type { Host } from '#core/gateway/host/host.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { PaymentAttempt } from './entities.ts';
const earlySeconds = [20, 40, 60]; // after the charge
const intervalSeconds = 60; // until the order expires
/** After expiry: a payment scanned at the last moment may settle late. */
const lateSeconds = [60, 300, 900, 3_600, 21_600, 86_400];
const jitter = 0.15; // share of a delay, so that orders placed together spread out
const toleranceSeconds = 8; // a check this much early is not repeated

/** Seconds before the first check of a new charge. */
export const firstCheck = 20;

interface CheckProgress {
  readonly age: number; // seconds since it was charged
  readonly left: number; // seconds until the order expires; negative afterwards
}

/**
 * Returns the seconds to postpone a check while the provider's notifications arrive, which are faster than any check: until one minute
 * after the charge. Undefined for a check that must not wait, in case a notification was lost.
 */
export function whileNotified({ age, left }: CheckProgress): number | undefined {
  const delay = intervalSeconds - age;
  return delay > toleranceSeconds && delay < left ? delay : undefined;
}

/** Returns the seconds until the next check; undefined after the last one. */
export function nextCheck(progress: CheckProgress, random: () => number = Math.random): number | undefined {
  const delay = progress.left > 0 ? beforeExpiry(progress) : afterExpiry(-progress.left);
  if (delay === undefined) return undefined;
  const jittered = delay * (1 - jitter + 2 * jitter * random());
  const { left } = progress;
  // The check at expiry decides about the order, so it must not come earlier.
  return left > 0 && jittered + toleranceSeconds > left ? left + 1 : jittered;
}

function beforeExpiry({ age }: CheckProgress): number {
  const next = earlySeconds.find((time) => time > age + toleranceSeconds);
  return next === undefined ? intervalSeconds : next - age;
}

function afterExpiry(since: number): number | undefined {
  const next = lateSeconds.find((time) => time > since / (1 - jitter) + 5);
  return next === undefined ? undefined : next - since;
}

export const checkJob = 'check-payment';

/** Enqueues the next check of an attempt for the time stored in the database. The queue is only a schedule: a sweep finds what it loses. */
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
  // The queue logs its own failures.
  await jobs.add(checkJob, { reference }, { id, delay: due.delay }).catch(() => undefined);
}
