import type { EntityManager } from '@mikro-orm/postgresql';
import { endOrderPeriod } from '../accounts/ledger.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { jitteredDelay } from '#core/platform/timing/backoff.ts';
import { askProvider, readStatus } from './ask-provider.ts';
import { flagOrder } from './flags.ts';
import { recordRefunded } from './record-refunded.ts';
import { type ChargeReference, PaymentError, type Refund, type RefundRequest } from './payment-provider.ts';
import { settle } from './settle.ts';
import { toStoredJson } from './stored-json.ts';
import type { Fields, Row } from '#core/platform/database/rows.ts';
import type { PaymentAttempt, PlanOrder, Refund as RefundEntity } from './entities.ts';

/** Seconds for which a refund belongs to its worker. */
const lease = 60;
/** Seconds between questions about a refund that is pending, and after failures. */
const pauses = { pending: 600, failed: { first: 5, longest: 300 } };
/** Seconds for which a refund that the provider has accepted may be missing from its list. */
const longestUnlisted = 7 * 86_400;

interface PendingRefund
  extends
    Fields<typeof RefundEntity, 'key' | 'amount' | 'currency' | 'reason' | 'failures'>,
    Fields<typeof PaymentAttempt, 'provider' | 'reference' | 'providerReference'> {
  readonly orderId: string;
  readonly accountId: string;
  readonly isAccepted: boolean; // the provider has answered
  readonly age: number; // seconds
}

const claim = (which: string) => `
  update refund r set next_check_at = clock_timestamp() + make_interval(secs => ${lease})
  from plan_order o, payment p, payment_attempt a
  where ${which} and r.state = 'pending' and not r.is_manual
    and o.id = r.order_id and p.id = r.payment_id and a.reference = p.reference
  returning r.key, r.order_id as "orderId", o.account_id as "accountId", o.provider, a.reference,
    a.provider_reference as "providerReference", r.amount::float8 as amount, r.currency, r.reason, r.failures,
    r.raw is not null as "isAccepted", extract(epoch from clock_timestamp() - r.created_at)::float8 as age`;

const due = 'r.key = ? and (r.raw is not null or r.next_check_at <= clock_timestamp())';

/**
 * Reads the status of a pending refund, or requests the refund if that has had no response yet. Idempotent by its key. Only one
 * worker requests it, because a provider may reject a second request because of the first.
 */
export async function settleRefund(host: Host, key: string): Promise<void> {
  const [refund] = await host.database.query<PendingRefund>(claim(due), [key]);
  if (refund !== undefined) await pursue(host, refund);
}

/** Does so for refunds that are overdue, at most so many. @returns how many there were */
export async function settleOverdueRefunds(host: Host, limit: number): Promise<number> {
  const overdue = await host.database.query<PendingRefund>(
    claim(
      'r.key in (select key from refund where next_check_at <= clock_timestamp() order by next_check_at limit ? for update skip locked)',
    ),
    [limit],
  );
  // At once: one after another, slow answers would outlast the lease of the last.
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
    if (error.kind === 'rejected') return fail(host, refund, { message: error.message });
    const delay = Math.max(error.retryAfter ?? 0, jitteredDelay(pauses.failed, refund.failures));
    await host.database.query(
      `update refund set failures = failures + 1, next_check_at = clock_timestamp() + make_interval(secs => ?)
       where key = ? and state = 'pending'`,
      [delay, refund.key],
    );
  }
}

async function ask(host: Host, refund: PendingRefund): Promise<Refund> {
  const { provider, isAccepted, providerReference, reference } = refund;
  const charge = { reference, providerReference: providerReference ?? undefined };
  const request: RefundRequest = { ...refund, ...charge };
  if (isAccepted) return readRefund(host, provider, charge, request);
  try {
    return await askProvider(host, provider, async (connection, signal) => {
      if (connection.refund === undefined) throw new PaymentError('rejected', `${provider} has no refunds`);
      return connection.refund(request, signal);
    });
  } catch (error) {
    if (!(error instanceof PaymentError) || error.kind !== 'rejected') throw error;
    return readRefused(host, provider, charge, request, error);
  }
}

/**
 * When the response to a refund was lost, its retry is rejected although the refund happened: it failed only if the provider
 * has no such refund.
 */
async function readRefused(
  host: Host,
  provider: string,
  charge: ChargeReference,
  request: RefundRequest,
  refusal: PaymentError,
): Promise<Refund> {
  const known = await readRefund(host, provider, charge, request).catch((error: unknown) => {
    throw error instanceof PaymentError && error.kind === 'rejected' ? refusal : error;
  });
  if (known.state === 'unknown') throw refusal;
  return known;
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
  const evidence = await readStatus(host, provider, charge);
  await settle(host.database, provider, evidence);
  return { state: evidence.state === 'refunded' ? 'done' : 'unknown', raw: evidence.raw };
}

async function record(host: Host, refund: PendingRefund, { state, raw }: Refund): Promise<void> {
  if (state === 'failed') return fail(host, refund, raw);
  if (state === 'unknown' && refund.age > longestUnlisted)
    return fail(host, refund, { message: 'the provider has not listed it for a week', raw });
  if (state === 'done') {
    return host.database
      .fork()
      .transactional((transaction) => finishRefund(transaction, refund.orderId, refund.accountId, refund.key, raw));
  }
  await host.database.query(
    `update refund set raw = ?::json, failures = 0, next_check_at = clock_timestamp() + make_interval(secs => ?)
     where key = ? and state = 'pending'`,
    [toStoredJson(raw), pauses.pending, refund.key],
  );
}

/** The money is back: the order is refunded, and what is left of its period ends. Once, in whichever process it is seen first. */
export async function finishRefund(
  transaction: EntityManager,
  orderId: string,
  accountId: string,
  key: string,
  raw: unknown,
): Promise<void> {
  const [order] = await transaction.execute<Row<typeof PlanOrder, 'state'>[]>(
    'select state from plan_order where id = ? for no key update',
    [orderId],
  );
  await transaction.execute(
    `update refund set state = 'done', raw = ?::json, next_check_at = null, finished_at = clock_timestamp()
     where key = ? and state = 'pending'`,
    [toStoredJson(raw), key],
  );
  if (order?.state !== 'paid') return;
  await transaction.execute(`update plan_order set state = 'refunded' where id = ?`, [orderId]);
  await endOrderPeriod(transaction, accountId, orderId);
  await recordRefunded(transaction, { orderId, accountId });
}

async function fail({ database }: Host, { key, orderId, accountId }: PendingRefund, raw: unknown): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from plan_order where id = ? for no key update', [orderId]);
    const failed = await transaction.execute<unknown[]>(
      `update refund set state = 'failed', raw = ?::json, next_check_at = null, finished_at = clock_timestamp()
       where key = ? and state = 'pending' returning 1`,
      [toStoredJson(raw), key],
    );
    if (failed.length > 0) await flagOrder(transaction, { orderId, accountId }, 'refund_failed', key);
  });
}
