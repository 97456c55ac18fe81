import type { Host } from '#core/gateway/host/host.ts';
import type { Fields } from '#core/platform/database/rows.ts';
import { jitteredDelay } from '#core/platform/timing/backoff.ts';
import { askProvider, readStatus } from './ask-provider.ts';
import { queueCharge, insertAttempt, maxChargeSeconds, maxAttempts } from './attempts.ts';
import { enqueueCheck, computeNextDelay, computePostponement } from './check-schedule.ts';
import type { PaymentAttempt } from './entities.ts';
import { expireOrder } from './expiry.ts';
import type { OrderState } from './order-types.ts';
import { type PaymentConnection, PaymentError, type PaymentEvidence } from './payment-provider.ts';
import { settle } from './settle.ts';
import { runAll } from './work-queue.ts';

/** The longest check reads a status, cancels the charge and reads again, each within 12 seconds including the wait for its turn. */
const leaseSeconds = 45;
const toleranceSeconds = 2;
const backoffSeconds = { min: 5, max: 300 };
const maxFailingSeconds = 7 * 86_400;
const notificationWindowSeconds = 30; // a notification this recent shows that notifications arrive

interface ClaimedCheckRow extends Fields<
  typeof PaymentAttempt,
  'provider' | 'reference' | 'providerReference' | 'charge' | 'failures'
> {
  readonly orderId: string;
  readonly orderState: OrderState;
  readonly canBePaid: boolean; // the buyer can see a QR code or a payment page
  readonly isNotified: boolean; // the provider's notifications are arriving
  readonly isLast: boolean;
  readonly ageSeconds: number; // since the charge
  readonly remainingSeconds: number; // until the order expires
}

type ClaimedCheck = Omit<ClaimedCheckRow, 'providerReference'> & { readonly providerReference: string | undefined };

const claimChecksSql = (condition: string, limit = '') => `
  with due as (
    select reference from payment_attempt where ${condition} order by next_check_at ${limit} for update skip locked
  )
  update payment_attempt a
  set checks = checks + 1, checked_at = clock_timestamp(), next_check_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
  from due, plan_order o where a.reference = due.reference and o.id = a.order_id
  returning a.order_id as "orderId", o.state as "orderState", a.provider, a.reference,
    a.provider_reference as "providerReference", a.charge, a.failures,
    (a.qr is not null or a.payment_url is not null) as "canBePaid",
    exists (
      select 1 from payment_notification n
      where n.next_try_at is null and n.received_at > clock_timestamp() - make_interval(secs => ${notificationWindowSeconds}) and n.provider = a.provider
    ) as "isNotified",
    not exists (select 1 from payment_attempt b where b.order_id = a.order_id and b.number > a.number) as "isLast",
    extract(epoch from clock_timestamp() - a.created_at)::float8 as "ageSeconds",
    extract(epoch from o.expires_at - clock_timestamp())::float8 as "remainingSeconds"`;

/** Runs the check of one payment if it is due, and schedules the next one. Each check runs in only one worker at a time. */
export async function checkPayment(host: Host, reference: string): Promise<void> {
  const [row] = await host.database.query<ClaimedCheckRow>(
    claimChecksSql(`reference = ? and next_check_at <= clock_timestamp() + make_interval(secs => ${toleranceSeconds})`),
    [reference],
  );
  if (row !== undefined) await runCheck(host, toClaimedCheck(row));
}

/** @returns how many checks ran */
export async function checkOverduePayments(host: Host, limit: number): Promise<number> {
  const rows = await host.database.query<ClaimedCheckRow>(
    claimChecksSql('next_check_at <= clock_timestamp()', 'limit ?'),
    [limit],
  );
  return runAll(host, rows.map(toClaimedCheck), runCheck, 'a payment could not be checked');
}

function toClaimedCheck(row: ClaimedCheckRow): ClaimedCheck {
  return { ...row, providerReference: row.providerReference ?? undefined };
}

async function runCheck(host: Host, check: ClaimedCheck): Promise<void> {
  const isLikelyNotified = check.canBePaid && check.isNotified && check.failures === 0;
  const postponement = isLikelyNotified ? computePostponement(check) : undefined;
  if (postponement !== undefined) {
    await scheduleCheck(host, check, postponement, undefined);
    return enqueueCheck(host, check.reference);
  }
  try {
    await (check.charge === 'none' ? retryCharge(host, check) : pollCharge(host, check));
    await scheduleCheck(host, check, computeNextDelay(check), undefined);
  } catch (error) {
    // A provider error never means "not paid": the order stays as it is.
    if (!(error instanceof PaymentError)) throw error;
    if (error.isRateLimited) {
      await postponeCheck(host, check, error);
      return enqueueCheck(host, check.reference);
    }
    if (check.remainingSeconds < -maxFailingSeconds) return stopChecking(host, check, error);
    const delaySeconds = Math.max(error.retryAfter ?? 0, jitteredDelay(backoffSeconds, check.failures));
    await scheduleCheck(host, check, Math.min(delaySeconds, backoffSeconds.max), error.message);
  }
  await enqueueCheck(host, check.reference);
}

async function stopChecking(host: Host, check: ClaimedCheck, { message }: PaymentError): Promise<void> {
  await scheduleCheck(host, check, undefined, message);
  // If it was paid after all, a notification still activates the order.
  await expireOrder(host.database, check.orderId);
  host.log.error(`payment ${check.reference} is no longer checked, a week after its order expired: ${message}`);
}

async function pollCharge(host: Host, check: ClaimedCheck): Promise<void> {
  const { provider, isLast, remainingSeconds } = check;
  const evidence = await readStatus(host, provider, check, 'poll');
  await settle(host, provider, evidence);
  const isWaiting = evidence.state === 'pending' || evidence.state === 'unknown';
  if (!isLast || !isWaiting) return;
  if (remainingSeconds <= 0) {
    // First, because the provider may report that it was paid in the meantime.
    await endCharge(host, check);
    await expireOrder(host.database, check.orderId);
  } else if (isResponseLost(check)) {
    await addAttempt(host, check);
    if (evidence.state === 'pending') await endCharge(host, check);
  }
}

function isResponseLost({ canBePaid, charge, ageSeconds }: ClaimedCheck): boolean {
  // Once a status or notification has reported the charge, it is no longer `unknown`.
  return !canBePaid && (charge === 'unknown' || ageSeconds >= maxChargeSeconds);
}

async function endCharge(
  host: Host,
  { provider, reference, providerReference, orderState }: ClaimedCheck,
): Promise<void> {
  if (orderState !== 'created' && orderState !== 'pending') return;
  const charge = { reference, providerReference };
  try {
    const cancel = async (connection: PaymentConnection, signal: AbortSignal) => connection.cancel?.(charge, signal);
    const evidence = await askProvider(host, provider, cancel, { urgency: 'poll' });
    if (evidence !== undefined) await settle(host, provider, asExpired(evidence));
  } catch (error) {
    if (!(error instanceof PaymentError) || error.isRateLimited) throw error;
    // A charge that cannot be canceled expires by itself.
    await settle(host, provider, await readStatus(host, provider, charge, 'poll'));
  }
}

function asExpired(evidence: PaymentEvidence): PaymentEvidence {
  // The gateway itself ended the charge.
  return evidence.state === 'failed' ? { ...evidence, state: 'expired' } : evidence;
}

async function retryCharge(host: Host, check: ClaimedCheck): Promise<void> {
  if (check.remainingSeconds <= 0) return expireOrder(host.database, check.orderId);
  // A pending order may need this too, if the response to an earlier charge was lost.
  const isOpen = check.orderState === 'created' || check.orderState === 'pending';
  if (!check.isLast || !isOpen) return;
  // The charge is known not to exist, so its reference can be used again.
  const { attempt } = await queueCharge(host, check.orderId);
  // Without an error, the charge has not been requested yet.
  if ((attempt?.charge === 'none' || attempt?.charge === 'unknown') && attempt.error !== undefined)
    throw new PaymentError('temporary', attempt.error);
}

async function addAttempt(host: Host, { orderId, reference }: ClaimedCheck): Promise<void> {
  // The earlier charge has an unknown outcome, so it cannot be shown. A payment for either one counts.
  const isAdded = await host.database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from plan_order where id = ? for no key update', [orderId]);
    const [openOrder] = await transaction.execute<unknown[]>(
      `select 1 from plan_order o join payment_attempt a on a.order_id = o.id
       where o.id = ? and o.state in ('created', 'pending') and o.expires_at > clock_timestamp() and a.reference = ?
         and a.number = (select max(number) from payment_attempt b where b.order_id = o.id) and a.number < ?`,
      [orderId, reference, maxAttempts],
    );
    if (openOrder !== undefined) await insertAttempt(transaction, orderId);
    return openOrder !== undefined;
  });
  if (isAdded) await queueCharge(host, orderId);
}

async function scheduleCheck(
  { database }: Host,
  { reference }: ClaimedCheck,
  delaySeconds: number | undefined,
  error: string | undefined,
): Promise<void> {
  // A settled payment has no next check.
  await database.query(
    `update payment_attempt set next_check_at = clock_timestamp() + make_interval(secs => ?), error = ?,
       failures = case when ? then failures + 1 else 0 end
     where reference = ? and next_check_at is not null`,
    [delaySeconds ?? null, error?.slice(0, 1_000) ?? null, error !== undefined, reference],
  );
}

async function postponeCheck(
  { database }: Host,
  { reference }: ClaimedCheck,
  { retryAfter = 1 }: PaymentError,
): Promise<void> {
  // Not a failure: the call budget allows no polls at the moment.
  await database.query(
    `update payment_attempt set next_check_at = clock_timestamp() + make_interval(secs => ?)
     where reference = ? and next_check_at is not null`,
    [retryAfter * (1 + Math.random()), reference],
  );
}
