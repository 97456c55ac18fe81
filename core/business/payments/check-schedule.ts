import type { Host } from '#core/gateway/host/host.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { PaymentAttempt } from './entities.ts';

const earlySeconds = [20, 40, 60]; // after the charge
const intervalSeconds = 60; // until the order expires
const lateSeconds = [60, 300, 900, 3_600, 21_600, 86_400]; // after expiry: a payment scanned at the last moment may settle late
const jitterShare = 0.15; // share of a delay; spreads out the checks of orders that were placed together
const toleranceSeconds = 8; // a check that runs early by no more than this is not repeated

export const firstCheckSeconds = 20;

interface CheckProgress {
  readonly ageSeconds: number; // since the charge
  readonly remainingSeconds: number; // until the order expires; negative afterwards
}

/**
 * Returns the number of seconds by which to postpone a check while the provider's notifications arrive, since they are faster than any
 * check. Postpones until one minute after the charge. Returns undefined for a check that must not wait, because a notification might have
 * been lost.
 */
export function computePostponement({ ageSeconds, remainingSeconds }: CheckProgress): number | undefined {
  const delay = intervalSeconds - ageSeconds;
  return delay > toleranceSeconds && delay < remainingSeconds ? delay : undefined;
}

/** Returns the seconds until the next check; undefined after the last one. */
export function computeNextDelay(progress: CheckProgress, random: () => number = Math.random): number | undefined {
  const { ageSeconds, remainingSeconds } = progress;
  const delay =
    remainingSeconds > 0 ? computeDelayBeforeExpiry(ageSeconds) : computeDelayAfterExpiry(-remainingSeconds);
  if (delay === undefined) return undefined;
  const jittered = delay * (1 - jitterShare + 2 * jitterShare * random());
  // The check at expiry decides the order's fate, so it must not run any earlier.
  return remainingSeconds > 0 && jittered + toleranceSeconds > remainingSeconds ? remainingSeconds + 1 : jittered;
}

function computeDelayBeforeExpiry(ageSeconds: number): number {
  const next = earlySeconds.find((time) => time > ageSeconds + toleranceSeconds);
  return next === undefined ? intervalSeconds : next - ageSeconds;
}

function computeDelayAfterExpiry(secondsSince: number): number | undefined {
  const next = lateSeconds.find((time) => time > secondsSince / (1 - jitterShare) + 5);
  return next === undefined ? undefined : next - secondsSince;
}

export const checkJob = 'check-payment';

/** A sweep finds checks that the queue loses. */
export async function enqueueCheck(
  { database, jobs }: Pick<Host, 'database' | 'jobs'>,
  reference: string,
): Promise<void> {
  const [attempt] = await database.query<Row<typeof PaymentAttempt, 'checks'> & { delay: number }>(
    `select checks, greatest(0, extract(epoch from next_check_at - clock_timestamp()))::float8 as delay
     from payment_attempt where reference = ? and next_check_at is not null`,
    [reference],
  );
  if (attempt === undefined) return;
  const id = `${checkJob}-${reference}-${attempt.checks}`;
  // The queue logs its own failures.
  await jobs.add(checkJob, { reference }, { id, delay: attempt.delay }).catch(() => undefined);
}
