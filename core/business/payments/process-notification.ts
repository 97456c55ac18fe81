import type { Host } from '#core/gateway/host/host.ts';
import type { Fields, Row } from '#core/platform/database/rows.ts';
import { jitteredDelay } from '#core/platform/timing/backoff.ts';
import { readStatus } from './ask-provider.ts';
import type { PaymentAttempt, PaymentNotification } from './entities.ts';
import { flagForeignMoney } from './flags.ts';
import { type ChargeReference, PaymentError, type PaymentEvidence } from './payment-provider.ts';
import { toChargeReference } from './read-charge.ts';
import { settleRefund } from './refund-status.ts';
import { settle } from './settle.ts';
import { runAll } from './work-queue.ts';

export const notificationJob = 'process-notification';

const leaseSeconds = 30;
const orderGraceSeconds = 600;
const maxAgeSeconds = 86_400; // older notifications are dropped; the checks of their orders continue
const minTries = 20; // minimum number before a notification is dropped, because a gateway that was off for a day has not tried it yet
const retryDelaySeconds = { unknownOrder: { min: 1, max: 60 }, failed: { min: 5, max: 300 } };

interface StoredNotification extends Fields<
  typeof PaymentNotification,
  'id' | 'provider' | 'reference' | 'providerReference' | 'refundKey' | 'paymentId' | 'tries'
> {
  readonly evidence: string | null;
  readonly ageSeconds: number;
}

const claimNotificationsSql = (condition: string) => `
  with due as (select id from payment_notification where ${condition} for update skip locked)
  update payment_notification n
  set tries = tries + 1, next_try_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
  from due where n.id = due.id
  returning n.id::text, provider, reference, provider_reference as "providerReference", refund_key as "refundKey",
    payment_id as "paymentId",
    evidence::text, tries, extract(epoch from clock_timestamp() - received_at)::float8 as "ageSeconds"`;

export async function processNotification(host: Host, id: string): Promise<void> {
  const [notification] = await host.database.query<StoredNotification>(
    claimNotificationsSql(
      'id = ?::bigint and next_try_at is not null and (tries = 0 or next_try_at <= clock_timestamp())',
    ),
    [id],
  );
  if (notification !== undefined) await processClaimedNotification(host, notification);
}

/** @returns how many notifications were processed */
export async function processOverdueNotifications(host: Host, limit: number): Promise<number> {
  const notifications = await host.database.query<StoredNotification>(
    claimNotificationsSql('next_try_at <= clock_timestamp() order by next_try_at limit ?'),
    [limit],
  );
  return runAll(host, notifications, processClaimedNotification, 'a notification could not be processed');
}

async function processClaimedNotification(host: Host, notification: StoredNotification): Promise<void> {
  const { provider, ageSeconds, tries } = notification;
  try {
    const isRefunded = notification.refundKey !== null && (await settleRefund(host, notification.refundKey));
    const evidence = await readEvidence(host, notification);
    if (evidence === undefined) return await awaitOrder(host, notification);
    const outcome = await settle(host, provider, evidence);
    if (outcome === 'unknown_order') return await awaitOrder(host, notification);
    if (outcome === 'foreign')
      host.log.error(
        `a notification from ${provider} is about ${notification.reference}, but its evidence is about another payment`,
      );
    await finishNotification(host, notification, isRefunded && outcome === 'unchanged' ? 'refunded' : outcome);
    if (evidence.state === 'pending' || evidence.state === 'unknown') await advanceNextCheck(host, evidence.reference);
  } catch (error) {
    if (ageSeconds > maxAgeSeconds && tries >= minTries) return dropNotification(host, notification, error);
    if (!(error instanceof PaymentError)) throw error;
    const delaySeconds = error.isRateLimited ? 0 : jitteredDelay(retryDelaySeconds.failed, tries - 1);
    await postponeNotification(host, notification, Math.max(error.retryAfter ?? 0, delaySeconds));
  }
}

async function readEvidence(host: Host, notification: StoredNotification): Promise<PaymentEvidence | undefined> {
  if (notification.evidence !== null) return reviveEvidence(JSON.parse(notification.evidence));
  const { provider, reference, providerReference, paymentId } = notification;
  const [charge] = await host.database.query<Row<typeof PaymentAttempt, 'reference' | 'provider_reference'>>(
    `select reference, provider_reference from payment_attempt
     where provider = ? and (reference = ? or provider_reference = ?) order by reference = ? desc limit 1`,
    [provider, reference, providerReference, reference],
  );
  if (charge === undefined) return undefined;
  const currentReference = charge.provider_reference ?? providerReference;
  const target = toChargeReference({ reference: charge.reference, providerReference: currentReference, paymentId });
  if (providerReference !== null && providerReference !== currentReference) {
    const otherCharge = await tryReadStatus(host, provider, { ...target, providerReference });
    if (otherCharge?.state === 'paid' || otherCharge?.state === 'refunded') return otherCharge;
  }
  return readStatus(host, provider, target, 'notification');
}

async function tryReadStatus(
  host: Host,
  provider: string,
  target: ChargeReference,
): Promise<PaymentEvidence | undefined> {
  try {
    return await readStatus(host, provider, target, 'notification');
  } catch (error) {
    // The charge may not exist at the provider, or may not be ours.
    if (error instanceof PaymentError && error.kind === 'rejected') return undefined;
    throw error;
  }
}

function reviveEvidence({ paidAt, refunds, ...evidence }: PaymentEvidence): PaymentEvidence {
  return {
    ...evidence,
    ...(paidAt !== undefined && { paidAt: new Date(paidAt) }),
    ...(refunds !== undefined && {
      refunds: refunds.map(({ at, ...refund }) => ({ ...refund, at: at && new Date(at) })),
    }),
  };
}

async function awaitOrder(host: Host, notification: StoredNotification): Promise<void> {
  const { provider, reference, ageSeconds, tries } = notification;
  // The notification may have arrived before its order was committed.
  if (ageSeconds < orderGraceSeconds)
    return postponeNotification(host, notification, jitteredDelay(retryDelaySeconds.unknownOrder, tries - 1));
  host.log.warn(`${provider} sent a notification about ${reference}, which is not an order of this gateway`);
  await flagForeignPayment(host, notification);
  await finishNotification(host, notification, 'unknown_order');
}

async function flagForeignPayment(host: Host, notification: StoredNotification): Promise<void> {
  const { provider, providerReference, paymentId } = notification;
  const reference = notification.reference ?? '';
  const target = toChargeReference({ reference, providerReference, paymentId });
  const evidence =
    notification.evidence === null
      ? await tryReadStatus(host, provider, target)
      : reviveEvidence(JSON.parse(notification.evidence));
  if (evidence?.paid === undefined) return;
  const moneyId = evidence.paymentId ?? evidence.providerReference ?? reference;
  const paidAt = (evidence.paidAt ?? new Date(host.now())).toISOString();
  const detail = { kind: 'payment' as const, ...evidence.paid, provider, at: paidAt, reference };
  await host.database
    .fork()
    .transactional((transaction) => flagForeignMoney(transaction, `${provider}/${moneyId}`, detail));
}

async function dropNotification(host: Host, notification: StoredNotification, error: unknown): Promise<void> {
  host.log.error(
    `a notification from ${notification.provider} about ${notification.reference} is dropped after a day of failures`,
    error,
  );
  await finishNotification(host, notification, 'given_up');
}

async function postponeNotification(
  { database, jobs }: Host,
  { id, tries }: StoredNotification,
  delaySeconds: number,
): Promise<void> {
  await database.query(
    'update payment_notification set next_try_at = clock_timestamp() + make_interval(secs => ?) where id = ?::bigint',
    [delaySeconds, id],
  );
  const job = { id: `${notificationJob}-${id}-${tries}`, delay: delaySeconds + 0.1 };
  await jobs.add(notificationJob, { id }, job).catch(() => undefined);
}

async function finishNotification({ database }: Host, { id }: StoredNotification, outcome: string): Promise<void> {
  await database.query('update payment_notification set next_try_at = null, outcome = ? where id = ?::bigint', [
    outcome,
    id,
  ]);
}

async function advanceNextCheck({ database }: Host, reference: string): Promise<void> {
  // The provider has announced a change that its status does not show yet.
  await database.query(
    `update payment_attempt set next_check_at = least(next_check_at, clock_timestamp() + interval '5 s')
     where reference = ? and next_check_at is not null`,
    [reference],
  );
}
