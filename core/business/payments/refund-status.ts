import type { Host } from '#core/gateway/host/host.ts';
import { jitteredDelay } from '#core/platform/timing/backoff.ts';
import { askProvider, readStatus } from './ask-provider.ts';
import { type ChargeReference, PaymentError, type Refund, type RefundRequest } from './payment-provider.ts';
import { failRefund, finishRefund, leaveRefund } from './refund-effects.ts';
import { namesAtProvider, settle } from './settle.ts';
import { toStoredJson } from './stored-json.ts';
import type { Fields } from '#core/platform/database/rows.ts';
import type { PaymentAttempt, Refund as RefundEntity } from './entities.ts';

const leaseSeconds = 60;
/** Seconds between status reads: while pending (`ofAge` is a share of the refund's age), and after failures. */
const pauses = { pending: { first: 600, longest: 21_600, ofAge: 1 / 6 }, failed: { first: 5, longest: 300 } };
const maxPendingSeconds = 7 * 86_400;

interface PendingRefund
  extends
    Fields<typeof RefundEntity, 'key' | 'amount' | 'currency' | 'reason' | 'failures'>,
    Fields<typeof PaymentAttempt, 'provider' | 'reference' | 'providerReference'> {
  readonly paymentId: string | null; // the provider's id
  readonly isAccepted: boolean; // the provider has answered
  readonly age: number; // seconds
}

const claim = (which: string) => `
  update refund r set next_check_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
  from payment p, payment_attempt a
  where ${which} and r.state in ('asked', 'sent') and not r.is_manual and p.id = r.payment_id and a.reference = p.reference
  returning r.key, p.provider, a.reference, ${namesAtProvider},
    r.amount::float8 as amount, r.currency, r.reason, r.failures, r.state = 'sent' as "isAccepted", extract(epoch from clock_timestamp() - r.created_at)::float8 as age`;

const due = `r.key = ? and (r.state = 'sent' or r.next_check_at <= clock_timestamp())`;

/**
 * Reads the status of a pending refund, or requests the refund if it has had no response yet. Idempotent by its key. Only one worker
 * requests it, because a provider may reject the second of two requests.
 *
 * @returns true if this call found the refund done
 */
export async function settleRefund(host: Host, key: string): Promise<boolean> {
  const [refund] = await host.database.query<PendingRefund>(claim(due), [key]);
  if (refund === undefined) return false;
  await pursue(host, refund);
  return (await host.database.query(`select 1 from refund where key = ? and state = 'done'`, [key])).length > 0;
}

/**
 * Settles overdue refunds up to a limit.
 *
 * @returns their number
 */
export async function settleOverdueRefunds(host: Host, limit: number): Promise<number> {
  const overdue = await host.database.query<PendingRefund>(
    claim(
      `r.key in (select key from refund where state in ('asked', 'sent') and next_check_at <= clock_timestamp()
         order by next_check_at limit ? for update skip locked)`,
    ),
    [limit],
  );
  // In parallel: one after another, slow answers would outlast the lease of the last.
  const results = await Promise.allSettled(overdue.map((refund) => pursue(host, refund)));
  for (const result of results)
    if (result.status === 'rejected') host.log.error('the status of a refund could not be read', result.reason);
  return overdue.length;
}

async function pursue(host: Host, refund: PendingRefund): Promise<void> {
  try {
    await record(host, refund, await ask(host, refund));
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    // A rejected read does not undo an accepted refund: the account's key may have changed.
    if (error.kind === 'rejected' && !refund.isAccepted) return fail(host, refund, { message: error.message });
    if (refund.age > maxPendingSeconds) return leave(host, refund, { message: error.message });
    const delay = Math.max(error.retryAfter ?? 0, jitteredDelay(pauses.failed, refund.failures));
    await host.database.query(
      `update refund set failures = failures + 1, next_check_at = clock_timestamp() + make_interval(secs => ?)
       where key = ? and state in ('asked', 'sent')`,
      [delay, refund.key],
    );
  }
}

async function ask(host: Host, refund: PendingRefund): Promise<Refund> {
  const { provider, isAccepted, providerReference, reference, paymentId } = refund;
  const charge = {
    reference,
    providerReference: providerReference ?? undefined,
    paymentId: paymentId ?? undefined,
  };
  const request: RefundRequest = { ...refund, ...charge };
  if (isAccepted) return readRefund(host, provider, charge, request);
  try {
    return await askProvider(host, provider, async (connection, signal) => {
      if (connection.refund === undefined) throw new PaymentError('rejected', `${provider} has no refunds`);
      return connection.refund(request, signal);
    });
  } catch (error) {
    if (!(error instanceof PaymentError) || error.kind !== 'rejected') throw error;
    return readRefused(host, refund, charge, request, error);
  }
}

/**
 * If the response to a refund was lost, its retry is rejected although the refund happened: it failed only if the provider has no such
 * refund. If an earlier request may have had an effect, a rejected read proves nothing.
 */
async function readRefused(
  host: Host,
  { provider, failures }: PendingRefund,
  charge: ChargeReference,
  request: RefundRequest,
  refusal: PaymentError,
): Promise<Refund> {
  const status = await readRefund(host, provider, charge, request).catch((error: unknown) => {
    if (!(error instanceof PaymentError) || error.kind !== 'rejected') throw error;
    throw failures === 0 ? refusal : new PaymentError('temporary', error.message, { cause: error });
  });
  if (status.state === 'unknown') throw refusal;
  return status;
}

async function readRefund(
  host: Host,
  provider: string,
  charge: ChargeReference,
  request: RefundRequest,
): Promise<Refund> {
  const stated = await askProvider(host, provider, async (connection, signal) =>
    connection.refundStatus?.(request, signal),
  );
  if (stated !== undefined) return stated;
  const evidence = await readStatus(host, provider, charge, 'poll');
  await settle(host, provider, evidence);
  const { refunds, state, raw } = evidence;
  // If refunds are listed, another one may have returned the money.
  const listed = refunds?.find(({ key }) => key === request.key);
  return {
    at: listed?.at,
    state: listed?.state ?? (refunds === undefined && state === 'refunded' ? 'done' : 'unknown'),
    raw,
  };
}

async function record(host: Host, refund: PendingRefund, { state, raw, at }: Refund): Promise<void> {
  if (state === 'failed') return fail(host, refund, raw);
  if (state === 'done') {
    return host.database.fork().transactional((transaction) => finishRefund(transaction, refund.key, raw, { at }));
  }
  // A refund accepted only now has yet to be read.
  if (refund.age > maxPendingSeconds && (refund.isAccepted || state === 'unknown'))
    return state === 'unknown'
      ? fail(host, refund, { message: 'the provider has not listed it for a week', raw })
      : leave(host, refund, raw);
  const { first, longest, ofAge } = pauses.pending;
  await host.database.query(
    `update refund set state = 'sent', raw = ?::json, failures = 0, next_check_at = clock_timestamp() + make_interval(secs => ?)
     where key = ? and state in ('asked', 'sent')`,
    [toStoredJson(raw), Math.min(Math.max(first, refund.age * ofAge), longest), refund.key],
  );
}

async function fail({ database }: Host, { key }: PendingRefund, raw: unknown): Promise<void> {
  await database.fork().transactional((transaction) => failRefund(transaction, key, raw));
}

async function leave({ database }: Host, { key }: PendingRefund, raw: unknown): Promise<void> {
  await database.fork().transactional((transaction) => leaveRefund(transaction, key, raw));
}
