import type { Host } from '#core/gateway/host/host.ts';
import { jitteredDelay } from '#core/platform/timing/backoff.ts';
import { askProvider, readStatus } from './ask-provider.ts';
import { chargeSoon, insertAttempt, longestCharge, mostAttempts } from './attempts.ts';
import { enqueueCheck, nextCheck, whileNotified } from './check-schedule.ts';
import { expireOrder } from './expiry.ts';
import type { OrderState } from './order-types.ts';
import { PaymentError, type PaymentEvidence } from './payment-provider.ts';
import { settle } from './settle.ts';
import type { Fields } from '#core/platform/database/rows.ts';
import type { PaymentAttempt } from './entities.ts';

/**
 * Seconds for which a check belongs to its worker; then another worker may take it. The longest check reads a status, cancels the charge
 * and reads again, each within 12 seconds including its turn.
 */
const lease = 45;
const toleranceSeconds = 2;
const backoffSeconds = { first: 5, longest: 300 };
const maxFailingSeconds = 7 * 86_400;
const newsSeconds = 30; // after a notification, further ones are expected

interface ClaimedRow extends Fields<
  typeof PaymentAttempt,
  'provider' | 'reference' | 'providerReference' | 'charge' | 'failures'
> {
  readonly orderId: string;
  readonly orderState: OrderState;
  readonly canBePaid: boolean; // its buyer sees a QR code or a payment page
  readonly isNotified: boolean; // the provider's notifications arrive
  readonly isLast: boolean;
  readonly age: number; // seconds
  readonly left: number; // seconds until the order expires
}

type Claimed = Omit<ClaimedRow, 'providerReference'> & { readonly providerReference: string | undefined };

const claim = (which: string) => `
  with due as (
    select reference from payment_attempt where ${which} order by next_check_at for update skip locked
  )
  update payment_attempt a
  set checks = checks + 1, checked_at = clock_timestamp(), next_check_at = clock_timestamp() + make_interval(secs => ${lease})
  from due, plan_order o where a.reference = due.reference and o.id = a.order_id
  returning a.order_id as "orderId", o.state as "orderState", a.provider, a.reference,
    a.provider_reference as "providerReference", a.charge, a.failures,
    (a.qr is not null or a.payment_url is not null) as "canBePaid",
    exists (
      select 1 from payment_notification n
      where n.next_try_at is null and n.received_at > clock_timestamp() - make_interval(secs => ${newsSeconds}) and n.provider = a.provider
    ) as "isNotified",
    not exists (select 1 from payment_attempt b where b.order_id = a.order_id and b.number > a.number) as "isLast",
    extract(epoch from clock_timestamp() - a.created_at)::float8 as age,
    extract(epoch from o.expires_at - clock_timestamp())::float8 as left`;

/** Checks one payment if that is due, and schedules the next check. One worker at a time. */
export async function checkPayment(host: Host, reference: string): Promise<void> {
  const [claimed] = await host.database.query<ClaimedRow>(
    claim(`reference = ? and next_check_at <= clock_timestamp() + make_interval(secs => ${toleranceSeconds})`),
    [reference],
  );
  if (claimed !== undefined) await check(host, normalized(claimed));
}

/**
 * Checks overdue payments up to a limit.
 *
 * @returns their number
 */
export async function checkOverdue(host: Host, limit: number): Promise<number> {
  const claimed = await host.database.query<ClaimedRow>(
    claim('next_check_at <= clock_timestamp()').replace('order by next_check_at', 'order by next_check_at limit ?'),
    [limit],
  );
  const results = await Promise.allSettled(claimed.map((row) => check(host, normalized(row))));
  for (const result of results)
    if (result.status === 'rejected') host.log.error('a payment could not be checked', result.reason);
  return claimed.length;
}

function normalized(claimed: ClaimedRow): Claimed {
  return { ...claimed, providerReference: claimed.providerReference ?? undefined };
}

/** A provider error never means "not paid": it changes no order, and the check is repeated. */
async function check(host: Host, claimed: Claimed): Promise<void> {
  const pause = claimed.canBePaid && claimed.isNotified && claimed.failures === 0 ? whileNotified(claimed) : undefined;
  if (pause !== undefined) {
    await schedule(host, claimed, pause, undefined);
    return enqueueCheck(host, claimed.reference);
  }
  try {
    await (claimed.charge === 'none' ? chargeAgain(host, claimed) : follow(host, claimed));
    const delay = nextCheck(claimed);
    await schedule(host, claimed, delay, undefined);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    if (error.isRateLimited) {
      await postpone(host, claimed, error);
      return enqueueCheck(host, claimed.reference);
    }
    if (claimed.left < -maxFailingSeconds) return giveUp(host, claimed, error);
    const delay = Math.max(error.retryAfter ?? 0, jitteredDelay(backoffSeconds, claimed.failures));
    await schedule(host, claimed, Math.min(delay, backoffSeconds.longest), error.message);
  }
  await enqueueCheck(host, claimed.reference);
}

/** The charge can no longer be paid. If it was paid, a notification still activates the order. */
async function giveUp(host: Host, claimed: Claimed, { message }: PaymentError): Promise<void> {
  await schedule(host, claimed, undefined, message);
  await expireOrder(host.database, claimed.orderId);
  host.log.error(`payment ${claimed.reference} is no longer checked, a week after its order expired: ${message}`);
}

/** Reads the status. At expiry, an unpaid charge is cancelled and read again before the order expires. */
async function follow(host: Host, claimed: Claimed): Promise<void> {
  const { provider, isLast, left } = claimed;
  const evidence = await readStatus(host, provider, claimed, 'poll');
  await settle(host, provider, evidence);
  const isWaiting = evidence.state === 'pending' || evidence.state === 'unknown';
  if (!isLast || !isWaiting) return;
  if (left <= 0) {
    await endCharge(host, claimed);
    await expireOrder(host.database, claimed.orderId);
  } else if (isUnseen(claimed)) {
    await addAttempt(host, claimed);
    if (evidence.state === 'pending') await endCharge(host, claimed);
  }
}

/** The charge cannot be shown, because its response was lost, even if a status or notification has reported it since. */
function isUnseen({ canBePaid, charge, age }: Claimed): boolean {
  return !canBePaid && (charge === 'unknown' || age >= longestCharge);
}

/** Never assumes success: the provider's status settles the charge afterwards. If it cannot be cancelled, it expires by itself. */
async function endCharge(host: Host, { provider, reference, providerReference, orderState }: Claimed): Promise<void> {
  if (orderState !== 'created' && orderState !== 'pending') return;
  const charge = { reference, providerReference };
  try {
    const evidence = await askProvider(
      host,
      provider,
      async (connection, signal) => connection.cancel?.(charge, signal),
      {
        urgency: 'poll',
      },
    );
    if (evidence !== undefined) await settle(host, provider, asEnded(evidence));
  } catch (error) {
    if (!(error instanceof PaymentError) || error.isRateLimited) throw error;
    await settle(host, provider, await readStatus(host, provider, charge, 'poll'));
  }
}

/** Not a failure: the gateway itself ended the charge. */
function asEnded(evidence: PaymentEvidence): PaymentEvidence {
  return evidence.state === 'failed' ? { ...evidence, state: 'expired' } : evidence;
}

/** Retries a charge that certainly does not exist, under its reference, while the order can be paid. */
async function chargeAgain(host: Host, claimed: Claimed): Promise<void> {
  if (claimed.left <= 0) return expireOrder(host.database, claimed.orderId);
  // A pending order has a charge whose response was lost; this attempt follows it.
  const isOpen = claimed.orderState === 'created' || claimed.orderState === 'pending';
  if (!claimed.isLast || !isOpen) return;
  const { attempt } = await chargeSoon(host, claimed.orderId);
  // A charge without an error has not been requested yet.
  if ((attempt?.charge === 'none' || attempt?.charge === 'unknown') && attempt.error !== undefined)
    throw new PaymentError('temporary', attempt.error);
}

/** A charge with an unknown outcome cannot be shown: another attempt follows, and a payment of either counts. */
async function addAttempt(host: Host, { orderId, reference }: Claimed): Promise<void> {
  const isAdded = await host.database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from plan_order where id = ? for no key update', [orderId]);
    const [open] = await transaction.execute<unknown[]>(
      `select 1 from plan_order o join payment_attempt a on a.order_id = o.id
       where o.id = ? and o.state in ('created', 'pending') and o.expires_at > clock_timestamp() and a.reference = ?
         and a.number = (select max(number) from payment_attempt b where b.order_id = o.id) and a.number < ?`,
      [orderId, reference, mostAttempts],
    );
    if (open !== undefined) await insertAttempt(transaction, orderId);
    return open !== undefined;
  });
  if (isAdded) await chargeSoon(host, orderId);
}

/** Schedules the next check, unless the payment was settled in the meantime. */
async function schedule(
  { database }: Host,
  { reference }: Claimed,
  delay: number | undefined,
  error: string | undefined,
): Promise<void> {
  await database.query(
    `update payment_attempt set next_check_at = clock_timestamp() + make_interval(secs => ?), error = ?,
       failures = case when ? then failures + 1 else 0 end
     where reference = ? and next_check_at is not null`,
    [delay ?? null, error?.slice(0, 1_000) ?? null, error !== undefined, reference],
  );
}

/** The call budget allows no polls at the moment; that is not a failure. */
async function postpone({ database }: Host, { reference }: Claimed, { retryAfter = 1 }: PaymentError): Promise<void> {
  await database.query(
    `update payment_attempt set next_check_at = clock_timestamp() + make_interval(secs => ?)
     where reference = ? and next_check_at is not null`,
    [retryAfter * (1 + Math.random()), reference],
  );
}
