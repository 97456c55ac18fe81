import type { Host } from '#core/gateway/host/host.ts';
import type { Fields } from '#core/platform/database/rows.ts';
import { jitteredDelay } from '#core/platform/timing/backoff.ts';
import { askProvider, readStatus } from './ask-provider.ts';
import type { PaymentAttempt, Refund as RefundEntity } from './entities.ts';
import { type ChargeReference, PaymentError, type Refund, type RefundRequest } from './payment-provider.ts';
import { toChargeReference } from './read-charge.ts';
import { failRefund, finishRefund, abandonRefund } from './refund-effects.ts';
import { providerIdColumns, settle } from './settle.ts';
import { toStoredJson } from './stored-json.ts';
import { runAll } from './work-queue.ts';

const leaseSeconds = 60;
const pendingDelaySeconds = { min: 600, max: 21_600, ageShare: 1 / 6 }; // a share of the refund's age, within bounds
const failureDelaySeconds = { min: 5, max: 300 };
const maxPendingSeconds = 7 * 86_400;

interface PendingRefund
  extends
    Fields<typeof RefundEntity, 'key' | 'amount' | 'currency' | 'reason' | 'failures'>,
    Fields<typeof PaymentAttempt, 'provider' | 'reference' | 'providerReference'> {
  readonly paymentId: string | null; // the provider's id
  readonly isAccepted: boolean; // by the provider
  readonly ageSeconds: number;
}

const claimRefundsSql = (condition: string) => `
  update refund r set next_check_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
  from payment p, payment_attempt a
  where ${condition} and r.state in ('asked', 'sent') and not r.is_manual and p.id = r.payment_id and a.reference = p.reference
  returning r.key, p.provider, a.reference, ${providerIdColumns},
    r.amount::float8 as amount, r.currency, r.reason, r.failures, r.state = 'sent' as "isAccepted", extract(epoch from clock_timestamp() - r.created_at)::float8 as "ageSeconds"`;

const dueCondition = `r.key = ? and (r.state = 'sent' or r.next_check_at <= clock_timestamp())`;

/**
 * Reads the status of a pending refund or, if the provider has not accepted it yet, requests it. Idempotent by the refund's key. Only one
 * worker requests the refund, because a provider may reject the second of two requests.
 *
 * @returns true if this call claimed the refund and it is done
 */
export async function settleRefund(host: Host, key: string): Promise<boolean> {
  const [refund] = await host.database.query<PendingRefund>(claimRefundsSql(dueCondition), [key]);
  if (refund === undefined) return false;
  await settleClaimedRefund(host, refund);
  const doneRows = await host.database.query(`select 1 from refund where key = ? and state = 'done'`, [key]);
  return doneRows.length > 0;
}

/** @returns how many refunds were settled */
export async function settleOverdueRefunds(host: Host, limit: number): Promise<number> {
  const overdueRefunds = await host.database.query<PendingRefund>(
    claimRefundsSql(
      `r.key in (select key from refund where state in ('asked', 'sent') and next_check_at <= clock_timestamp()
         order by next_check_at limit ? for update skip locked)`,
    ),
    [limit],
  );
  return runAll(host, overdueRefunds, settleClaimedRefund, 'the status of a refund could not be read');
}

async function settleClaimedRefund(host: Host, refund: PendingRefund): Promise<void> {
  try {
    await recordStatus(host, refund, await requestOrRead(host, refund));
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    // A rejected read does not undo an accepted refund: the key for the provider's account may have changed.
    if (error.kind === 'rejected' && !refund.isAccepted) return markFailed(host, refund, { message: error.message });
    if (refund.ageSeconds > maxPendingSeconds) return abandon(host, refund, { message: error.message });
    const delaySeconds = Math.max(error.retryAfter ?? 0, jitteredDelay(failureDelaySeconds, refund.failures));
    await host.database.query(
      `update refund set failures = failures + 1, next_check_at = clock_timestamp() + make_interval(secs => ?)
       where key = ? and state in ('asked', 'sent')`,
      [delaySeconds, refund.key],
    );
  }
}

async function requestOrRead(host: Host, refund: PendingRefund): Promise<Refund> {
  const { provider, isAccepted } = refund;
  const charge = toChargeReference(refund);
  const request: RefundRequest = { ...refund, ...charge };
  if (isAccepted) return readRefund(host, provider, charge, request);
  try {
    return await askProvider(host, provider, async (connection, signal) => {
      if (connection.refund === undefined) throw new PaymentError('rejected', `${provider} has no refunds`);
      return connection.refund(request, signal);
    });
  } catch (error) {
    if (!(error instanceof PaymentError) || error.kind !== 'rejected') throw error;
    return readAfterRejection(host, refund, charge, request, error);
  }
}

async function readAfterRejection(
  host: Host,
  { provider, failures }: PendingRefund,
  charge: ChargeReference,
  request: RefundRequest,
  rejection: PaymentError,
): Promise<Refund> {
  const status = await readRefund(host, provider, charge, request).catch((error: unknown) => {
    if (!(error instanceof PaymentError) || error.kind !== 'rejected') throw error;
    // If an earlier request may have had an effect, a rejected read proves nothing.
    throw failures === 0 ? rejection : new PaymentError('temporary', error.message, { cause: error });
  });
  // Providers also reject a repeated request whose first response was lost: the refund has failed only if the provider has no record of it.
  if (status.state === 'unknown') throw rejection;
  return status;
}

async function readRefund(
  host: Host,
  provider: string,
  charge: ChargeReference,
  request: RefundRequest,
): Promise<Refund> {
  const status = await askProvider(host, provider, async (connection, signal) =>
    connection.refundStatus?.(request, signal),
  );
  if (status !== undefined) return status;
  const evidence = await readStatus(host, provider, charge, 'poll');
  await settle(host, provider, evidence);
  const { refunds, state, raw } = evidence;
  // If the provider lists refunds, `refunded` is not enough: the money may have been returned by another refund.
  const listedRefund = refunds?.find(({ key }) => key === request.key);
  return {
    at: listedRefund?.at,
    state: listedRefund?.state ?? (refunds === undefined && state === 'refunded' ? 'done' : 'unknown'),
    raw,
  };
}

async function recordStatus(host: Host, refund: PendingRefund, { state, raw, at }: Refund): Promise<void> {
  if (state === 'failed') return markFailed(host, refund, raw);
  if (state === 'done') {
    return host.database.fork().transactional((transaction) => finishRefund(transaction, refund.key, raw, { at }));
  }
  // A refund that was only just accepted has not been read yet.
  if (refund.ageSeconds > maxPendingSeconds && (refund.isAccepted || state === 'unknown'))
    return state === 'unknown'
      ? markFailed(host, refund, { message: 'the provider has not listed it for a week', raw })
      : abandon(host, refund, raw);
  const { min, max, ageShare } = pendingDelaySeconds;
  await host.database.query(
    `update refund set state = 'sent', raw = ?::json, failures = 0, next_check_at = clock_timestamp() + make_interval(secs => ?)
     where key = ? and state in ('asked', 'sent')`,
    [toStoredJson(raw), Math.min(Math.max(min, refund.ageSeconds * ageShare), max), refund.key],
  );
}

async function markFailed({ database }: Host, { key }: PendingRefund, raw: unknown): Promise<void> {
  await database.fork().transactional((transaction) => failRefund(transaction, key, raw));
}

async function abandon({ database }: Host, { key }: PendingRefund, raw: unknown): Promise<void> {
  await database.fork().transactional((transaction) => abandonRefund(transaction, key, raw));
}
