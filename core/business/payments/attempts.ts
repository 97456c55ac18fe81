import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import type { Account } from '../accounts/entities.ts';
import { askProvider } from './ask-provider.ts';
import { enqueueCheck, firstCheckSeconds } from './check-schedule.ts';
import { getPaymentConnection } from './connections.ts';
import { flagOrder } from './flags.ts';
import type { Order } from './order-types.ts';
import { readOrder } from './order.ts';
import { type Charge, type ChargeReference, PaymentError } from './payment-provider.ts';
import { findQrProblem } from './qr-check.ts';
import { settle } from './settle.ts';
import { toEpoch, statedTimeSql } from './stated-time.ts';
import { getChargeQueue } from './work-queue.ts';

const defaultRetrySeconds = 5;
const maxRetrySeconds = 300;
const waitingLeaseSeconds = 20; // while a process waits for its turn to charge, which takes at most 15 s
/** Maximum duration of a charge request. Until then, the attempt belongs to the charging process. */
export const maxChargeSeconds = 15;
const maxPageWaitMs = 2_000; // after that, the buyer's page says that the charge is being created
export const maxAttempts = 10; // charges per order

/** The caller must have locked or just inserted the order's row. */
export async function insertAttempt(transaction: EntityManager, orderId: string): Promise<void> {
  const inserted = await transaction.execute<unknown[]>(
    `insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at, charge, next_check_at)
     select o.code || '.' || n, o.id, n, o.provider, o.price, o.currency, o.expires_at, 'none',
       clock_timestamp() + make_interval(secs => ?)
     from plan_order o, lateral (select coalesce(max(number), 0) + 1 as n from payment_attempt where order_id = o.id) m
     where o.id = ? returning reference`,
    [waitingLeaseSeconds, orderId],
  );
  if (inserted.length === 0) throw new Error(`order ${orderId} not found`);
}

class ChargeNotClaimed extends Error {
  override readonly name = 'ChargeNotClaimed';
}

/**
 * Charges an order's last attempt unless it already has a charge. Afterwards, the order is pending or failed, or its next check tries
 * again. If the provider accepts no calls at the moment, the attempt remains without a charge. Provider errors are recorded, not thrown.
 */
export async function chargeOrder(host: Host, orderId: string): Promise<Order> {
  const order = await requireOrder(host, orderId);
  const { attempt } = order;
  if (attempt?.charge !== 'none') return order;
  const { reference } = attempt;
  try {
    const charge = await requestCharge(host, order, reference);
    requireValidCharge(order, charge);
    // In test mode, the code is a placeholder.
    const isSimulated = getPaymentConnection(host, order.provider).simulation !== undefined;
    const problem = isSimulated ? undefined : findQrProblem(order, charge);
    if (problem?.isShown === false) await refuseCharge(host, order, reference, charge, problem.text);
    else await recordCharge(host, order, reference, charge, problem?.text);
  } catch (error) {
    if (error instanceof ChargeNotClaimed) return requireOrder(host, orderId);
    if (!(error instanceof PaymentError)) throw error;
    await recordFailure(host, orderId, reference, error);
  }
  await enqueueCheck(host, reference);
  return requireOrder(host, orderId);
}

/**
 * Queues an order to be charged (`chargeOrder`) and waits up to the time that a buyer's page may wait. May return before the charge exists;
 * this process or the order's next check still creates it.
 */
export async function queueCharge(host: Host, orderId: string): Promise<Order> {
  const { promise, resolve, reject } = Promise.withResolvers<Order>();
  getChargeQueue(host).add(() => chargeOrder(host, orderId).then(resolve, reject));
  const order = await waitForFirst([promise], maxPageWaitMs);
  return order === notSettled ? requireOrder(host, orderId) : order;
}

async function claimCharge({ database }: Host, reference: string): Promise<void> {
  const rows = await database.query<unknown>(
    `update payment_attempt a set charge = 'unknown', next_check_at = clock_timestamp() + make_interval(secs => ?)
     from plan_order o
     where a.reference = ? and a.charge = 'none' and o.id = a.order_id and o.state in ('created', 'pending')
       and o.expires_at > clock_timestamp() returning 1`,
    [maxChargeSeconds, reference],
  );
  if (rows.length === 0) throw new ChargeNotClaimed(); // another process has charged it, or its order is closed
}

export async function requireOrder({ database }: Pick<Host, 'database'>, orderId: string): Promise<Order> {
  const order = await readOrder(database, { id: orderId });
  if (order === undefined) throw new Error(`order ${orderId} not found`);
  return order;
}

async function requestCharge(host: Host, order: Order, reference: string): Promise<Charge> {
  const { service, database } = host;
  const [buyer] = await database.query<Row<typeof Account, 'name' | 'email'>>(
    'select name, email from account where id = ?',
    [order.accountId],
  );
  const request = {
    reference,
    amount: order.price,
    currency: order.currency,
    description: describeCharge(service.name, order.days),
    expiresAt: order.expiresAt,
    notificationUrl: `${service.baseUrl}/hooks/${order.provider}`,
    buyer: { name: buyer?.name ?? '', email: buyer?.email ?? undefined },
  };
  return askProvider(host, order.provider, (connection, signal) => connection.charge(request, signal), {
    urgency: 'charge',
    beforeFirstCall: () => claimCharge(host, reference),
  });
}

function describeCharge(serviceName: string, days: number): string {
  // At most 60 ASCII characters, which every provider accepts.
  const asciiName = serviceName.normalize('NFKD').replace(/[^\x20-\x7e]/g, '');
  return `${asciiName.slice(0, 45)} ${days === 1 ? '1 day' : `${days} days`}`.trim();
}

/** @throws PaymentError `unknown`, so that the charge is not shown */
function requireValidCharge({ price, currency }: Order, { qr, paymentUrl, total }: Charge): void {
  if (qr === undefined && paymentUrl === undefined)
    throw new PaymentError('unknown', 'the charge has neither a QR code nor a page');
  if (total === undefined) return;
  if (!Number.isSafeInteger(total.amount) || total.amount < price || total.currency !== currency)
    throw new PaymentError(
      'unknown',
      `the charge is for ${total.amount} ${total.currency} instead of ${price} ${currency}`,
    );
}

/** The order may be retried, and a payment that still arrives counts. */
async function refuseCharge(
  host: Host,
  { id, accountId, provider }: Order,
  reference: string,
  { providerReference }: Charge,
  problem: string,
): Promise<void> {
  host.log.error(`payment ${reference} of ${provider} is not shown: ${problem}`);
  const isRefused = await host.database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from plan_order where id = ? for no key update', [id]);
    // If another charge is already recorded, that one stays payable.
    const updatedRows = await transaction.execute<unknown[]>(
      `update payment_attempt set charge = 'rejected', provider_reference = ?, error = ?, next_check_at = null
       where reference = ? and coalesce(provider_reference, ?) = ? returning 1`,
      [providerReference, problem.slice(0, 1_000), reference, providerReference, providerReference],
    );
    if (updatedRows.length === 0) return false;
    await transaction.execute(
      `update plan_order set state = 'failed' where id = ? and state in ('created', 'pending')`,
      [id],
    );
    await flagOrder(transaction, { orderId: id, accountId }, 'invalid_qr', reference);
    return true;
  });
  if (isRefused) await cancelCharge(host, provider, { reference, providerReference });
}

/** Cancels a charge if the provider can. If it was paid in the meantime, the payment is settled. */
export async function cancelCharge(host: Host, provider: string, charge: ChargeReference): Promise<void> {
  try {
    const evidence = await askProvider(host, provider, async (connection, signal) =>
      connection.cancel?.(charge, signal),
    );
    if (evidence !== undefined) await settle(host, provider, evidence);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    host.log.warn(`payment ${charge.reference} could not be cancelled with ${provider}: ${error.message}`);
  }
}

/**
 * If the attempt already has a different charge, the new one is never shown, and a payment for it raises a flag. The new charge is not
 * canceled either: some providers cancel by our reference, which would end the charge that is shown.
 */
async function recordCharge(
  host: Host,
  { id: orderId, accountId, provider }: Order,
  reference: string,
  { providerReference, qr, paymentUrl, expiresAt, total }: Charge,
  qrProblem: string | undefined,
): Promise<void> {
  const isRecorded = await host.database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from plan_order where id = ? for no key update', [orderId]);
    const updatedRows = await transaction.execute<unknown[]>(
      `update payment_attempt set charge = 'created', provider_reference = ?, qr = ?,
         payment_url = ?, amount = coalesce(?::bigint, amount), error = null, failures = 0,
         expires_at = ${statedTimeSql('expires_at', { latest: `clock_timestamp() + interval '30 days'` })},
         next_check_at = clock_timestamp() + make_interval(secs => ?)
       where reference = ? and coalesce(provider_reference, ?) = ? returning 1`,
      [
        providerReference,
        qr ?? null,
        paymentUrl ?? null,
        total?.amount ?? null,
        toEpoch(expiresAt),
        firstCheckSeconds,
        reference,
        providerReference,
        providerReference,
      ],
    );
    if (updatedRows.length === 0) return false;
    await transaction.execute(`update plan_order set state = 'pending' where id = ? and state = 'created'`, [orderId]);
    if (qrProblem !== undefined) {
      host.log.warn(`payment ${reference} of ${provider} is shown: ${qrProblem}`);
      await flagOrder(transaction, { orderId, accountId }, 'unusual_qr', reference);
    }
    return true;
  });
  if (!isRecorded)
    host.log.warn(`payment ${reference} already has a charge, so the charge ${providerReference} is not shown`);
}

async function recordFailure(host: Host, orderId: string, reference: string, error: PaymentError): Promise<void> {
  if (error.isRateLimited) return recordWait(host, reference, error);
  const charge = { rejected: 'rejected', temporary: 'none', unknown: 'unknown' }[error.kind];
  host.log.warn(`payment ${reference} could not be charged (${error.kind}): ${error.message}`);
  await host.database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from plan_order where id = ? for no key update', [orderId]);
    // Does nothing if a notification arrived first, because the charge then exists after all.
    await transaction.execute(
      `update payment_attempt set charge = ?, error = ?, failures = failures + 1,
         next_check_at = case when ? = 'rejected' then null else clock_timestamp() + make_interval(secs => ?) end
       where reference = ? and charge in ('unknown', 'none') and provider_reference is null`,
      [
        charge,
        error.message.slice(0, 1_000),
        charge,
        Math.min(error.retryAfter ?? defaultRetrySeconds, maxRetrySeconds),
        reference,
      ],
    );
    if (charge !== 'rejected') return;
    await transaction.execute(
      `update plan_order set state = 'failed' where id = ? and state in ('created', 'pending')
         and not exists (select 1 from payment_attempt where reference = ? and charge <> 'rejected')`,
      [orderId, reference],
    );
  });
}

async function recordWait({ database }: Host, reference: string, { retryAfter = 1 }: PaymentError): Promise<void> {
  // Not a failure: the charge is only waiting for its turn.
  await database.query(
    `update payment_attempt set charge = 'none', next_check_at = clock_timestamp() + make_interval(secs => ?)
     where reference = ? and charge in ('unknown', 'none') and provider_reference is null`,
    [retryAfter, reference],
  );
}
