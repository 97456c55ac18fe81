import type { Host } from '#core/gateway/host/host.ts';
import { jitteredDelay } from '#core/platform/timing/backoff.ts';
import { readStatus } from './ask-provider.ts';
import { flagForeignMoney } from './flags.ts';
import { type ChargeReference, PaymentError, type PaymentEvidence } from './payment-provider.ts';
import { settleRefund } from './refund-status.ts';
import { settle } from './settle.ts';
import type { Fields, Row } from '#core/platform/database/rows.ts';
import type { PaymentAttempt, PaymentNotification } from './entities.ts';

/** The job that processes one notification. */
export const notificationJob = 'process-notification';

const leaseSeconds = 30;
/** Time for the order of a notification to be committed. */
const orderGraceSeconds = 600;
/** Then the notification is dropped; its order is still checked. */
const maxAgeSeconds = 86_400;
/** Minimum before a notification is dropped: a gateway that was off for a day has made none. */
const minTries = 20;
/** Seconds between tries, for an unknown order and for a failing provider. */
const pauses = { unknown: { first: 1, longest: 60 }, failed: { first: 5, longest: 300 } };

interface Stored extends Fields<
  typeof PaymentNotification,
  'id' | 'provider' | 'reference' | 'providerReference' | 'refundKey' | 'paymentId' | 'tries'
> {
  readonly evidence: string | null;
  readonly age: number; // seconds
}

const claim = (which: string) => `
  with due as (select id from payment_notification where ${which} for update skip locked)
  update payment_notification n
  set tries = tries + 1, next_try_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
  from due where n.id = due.id
  returning n.id::text, provider, reference, provider_reference as "providerReference", refund_key as "refundKey",
    payment_id as "paymentId",
    evidence::text, tries, extract(epoch from clock_timestamp() - received_at)::float8 as age`;

/** Processes a notification that is new, or due for another try. */
export async function processNotification(host: Host, id: string): Promise<void> {
  const [stored] = await host.database.query<Stored>(
    claim('id = ?::bigint and next_try_at is not null and (tries = 0 or next_try_at <= clock_timestamp())'),
    [id],
  );
  if (stored !== undefined) await process(host, stored);
}

/**
 * Processes overdue notifications up to a limit.
 *
 * @returns their number
 */
export async function processOverdue(host: Host, limit: number): Promise<number> {
  const stored = await host.database.query<Stored>(
    claim('next_try_at <= clock_timestamp() order by next_try_at limit ?'),
    [limit],
  );
  const results = await Promise.allSettled(stored.map((notification) => process(host, notification)));
  for (const result of results)
    if (result.status === 'rejected') host.log.error('a notification could not be processed', result.reason);
  return stored.length;
}

async function process(host: Host, stored: Stored): Promise<void> {
  const { provider, age, tries } = stored;
  try {
    const isRefunded = stored.refundKey !== null && (await settleRefund(host, stored.refundKey));
    const evidence = await readEvidence(host, stored);
    if (evidence === undefined) return await awaitOrder(host, stored);
    const { outcome } = await settle(host, provider, evidence);
    if (outcome === 'unknown_order') return await awaitOrder(host, stored);
    if (outcome === 'foreign')
      host.log.error(
        `a notification from ${provider} is about ${stored.reference}, but its evidence is about another payment`,
      );
    await finish(host, stored, isRefunded && outcome === 'unchanged' ? 'refunded' : outcome);
    if (evidence.state === 'pending' || evidence.state === 'unknown') await checkSoon(host, evidence.reference);
  } catch (error) {
    if (age > maxAgeSeconds && tries >= minTries) return giveUp(host, stored, error);
    if (!(error instanceof PaymentError)) throw error;
    const delay = error.isRateLimited ? 0 : jitteredDelay(pauses.failed, tries - 1);
    await postpone(host, stored, Math.max(error.retryAfter ?? 0, delay));
  }
}

/** Reads the evidence from the notification itself, otherwise from a status read. Undefined if the charge is unknown here. */
async function readEvidence(host: Host, stored: Stored): Promise<PaymentEvidence | undefined> {
  if (stored.evidence !== null) return reviveEvidence(JSON.parse(stored.evidence));
  const { provider, reference, providerReference, paymentId } = stored;
  const [charge] = await host.database.query<Row<typeof PaymentAttempt, 'reference' | 'provider_reference'>>(
    `select reference, provider_reference from payment_attempt
     where provider = ? and (reference = ? or provider_reference = ?) order by reference = ? desc limit 1`,
    [provider, reference, providerReference, reference],
  );
  if (charge === undefined) return undefined;
  const currentReference = charge.provider_reference ?? providerReference ?? undefined;
  const target = {
    reference: charge.reference,
    providerReference: currentReference,
    paymentId: paymentId ?? undefined,
  };
  if (providerReference !== null && providerReference !== currentReference) {
    const other = await readOther(host, provider, { ...target, providerReference });
    if (other?.state === 'paid' || other?.state === 'refunded') return other;
  }
  return readStatus(host, provider, target, 'notification');
}

async function readOther(host: Host, provider: string, target: ChargeReference): Promise<PaymentEvidence | undefined> {
  try {
    return await readStatus(host, provider, target, 'notification');
  } catch (error) {
    if (error instanceof PaymentError && error.kind === 'rejected') return undefined;
    throw error;
  }
}

function reviveEvidence({ paidAt, refunds, ...rest }: PaymentEvidence): PaymentEvidence {
  return {
    ...rest,
    ...(paidAt !== undefined && { paidAt: new Date(paidAt) }),
    ...(refunds !== undefined && {
      refunds: refunds.map(({ at, ...refund }) => ({ ...refund, at: at && new Date(at) })),
    }),
  };
}

/** A notification can arrive before its order is committed. If the order stays unknown, it is not ours. */
async function awaitOrder(host: Host, stored: Stored): Promise<void> {
  const { provider, reference, age, tries } = stored;
  if (age < orderGraceSeconds) return postpone(host, stored, jitteredDelay(pauses.unknown, tries - 1));
  host.log.warn(`${provider} sent a notification about ${reference}, which is not an order of this gateway`);
  await flagForeign(host, stored);
  await finish(host, stored, 'unknown_order');
}

/** Flags foreign money for the operator, unless the charge is unpaid or the provider does not show it. */
async function flagForeign(host: Host, stored: Stored): Promise<void> {
  const { provider, providerReference, paymentId } = stored;
  const reference = stored.reference ?? '';
  const target = {
    reference,
    providerReference: providerReference ?? undefined,
    paymentId: paymentId ?? undefined,
  };
  const stated =
    stored.evidence === null ? await readOther(host, provider, target) : reviveEvidence(JSON.parse(stored.evidence));
  if (stated?.paid === undefined) return;
  const name = stated.paymentId ?? stated.providerReference ?? reference;
  const at = (stated.paidAt ?? new Date(host.now())).toISOString();
  const detail = { kind: 'payment' as const, ...stated.paid, provider, at, reference };
  await host.database
    .fork()
    .transactional((transaction) => flagForeignMoney(transaction, `${provider}/${name}`, detail));
}

async function giveUp(host: Host, stored: Stored, error: unknown): Promise<void> {
  host.log.error(
    `a notification from ${stored.provider} about ${stored.reference} is dropped after a day of failures`,
    error,
  );
  await finish(host, stored, 'given_up');
}

async function postpone({ database, jobs }: Host, { id, tries }: Stored, delay: number): Promise<void> {
  await database.query(
    'update payment_notification set next_try_at = clock_timestamp() + make_interval(secs => ?) where id = ?::bigint',
    [delay, id],
  );
  const job = { id: `${notificationJob}-${id}-${tries}`, delay: delay + 0.1 };
  await jobs.add(notificationJob, { id }, job).catch(() => undefined);
}

async function finish({ database }: Host, { id }: Stored, outcome: string): Promise<void> {
  await database.query('update payment_notification set next_try_at = null, outcome = ? where id = ?::bigint', [
    outcome,
    id,
  ]);
}

/** The provider has announced a change that its status does not show yet. */
async function checkSoon({ database }: Host, reference: string): Promise<void> {
  await database.query(
    `update payment_attempt set next_check_at = least(next_check_at, clock_timestamp() + interval '5 s')
     where reference = ? and next_check_at is not null`,
    [reference],
  );
}
