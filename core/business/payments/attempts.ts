import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import { enqueueCheck, firstCheck } from './check-schedule.ts';
import { readOrder } from './order.ts';
import type { Order } from './order-types.ts';
import { type Charge, PaymentError } from './payment-provider.ts';
import { askProvider } from './ask-provider.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { Account } from '../accounts/entities.ts';
import type { PaymentAttempt } from './entities.ts';

/** Seconds before the next check of an attempt whose charge has failed. */
const retryAfter = 5;
/** Attempts of one order. */
export const mostAttempts = 10;

/** Adds an attempt to an order, whose row the caller has locked or just inserted. @returns its reference */
export async function insertAttempt(transaction: EntityManager, orderId: string): Promise<string> {
  const [attempt] = await transaction.execute<Row<typeof PaymentAttempt, 'reference'>[]>(
    `insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at, next_check_at)
     select o.code || '.' || n, o.id, n, o.provider, o.price, o.currency, o.expires_at,
       clock_timestamp() + make_interval(secs => ?)
     from plan_order o, lateral (select coalesce(max(number), 0) + 1 as n from payment_attempt where order_id = o.id) m
     where o.id = ? returning reference`,
    [firstCheck, orderId],
  );
  if (attempt === undefined) throw new Error(`order ${orderId} not found`);
  return attempt.reference;
}

/**
 * Charges the last attempt of an order. The outcome is recorded: the order is pending or failed, or its next check retries.
 * Rejects only when the database does not respond.
 */
export async function chargeOrder(host: Host, orderId: string): Promise<Order> {
  const order = await requireOrder(host, orderId);
  const { attempt } = order;
  if (attempt === undefined || attempt.charge === 'created' || attempt.charge === 'rejected') return order;
  try {
    const charge = await requestCharge(host, order, attempt.reference);
    const isRecorded = await recordCharge(host, orderId, attempt.reference, charge);
    if (!isRecorded)
      host.log.warn(
        `payment ${attempt.reference} has another charge than ${charge.providerReference}, which is not shown`,
      );
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    await recordFailure(host, orderId, attempt.reference, error);
  }
  await enqueueCheck(host, attempt.reference);
  return requireOrder(host, orderId);
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
  const charge = await askProvider(host, order.provider, (connection, signal) =>
    connection.charge(
      {
        reference,
        amount: order.price,
        currency: order.currency,
        description: describe(service.name, order.days),
        expiresAt: order.expiresAt,
        notificationUrl: `${service.baseUrl}/hooks/${order.provider}`,
        buyer: { name: buyer?.name ?? '', email: buyer?.email ?? undefined },
      },
      signal,
    ),
  );
  checkCharge(order, charge);
  return charge;
}

/** ASCII, at most 60 characters: what every provider takes. */
function describe(name: string, days: number): string {
  const plain = name.normalize('NFKD').replace(/[^\x20-\x7e]/g, '');
  return `${plain.slice(0, 45)} ${days === 1 ? '1 day' : `${days} days`}`.trim();
}

/** A charge that cannot be paid, or that would be paid wrongly, must not be shown. */
function checkCharge({ price, currency }: Order, { qr, paymentUrl, total }: Charge): void {
  if (qr === undefined && paymentUrl === undefined)
    throw new PaymentError('unknown', 'the charge has neither a QR code nor a page');
  if (total === undefined) return;
  if (!Number.isSafeInteger(total.amount) || total.amount < price || total.currency !== currency)
    throw new PaymentError(
      'unknown',
      `the charge is for ${total.amount} ${total.currency} instead of ${price} ${currency}`,
    );
}

/**
 * Stores the QR code or payment URL. If the recorded charge is a different one, the code is not shown: its payment could not be
 * attributed to the order.
 *
 * @returns whether it is the recorded charge
 */
async function recordCharge(host: Host, orderId: string, reference: string, charge: Charge): Promise<boolean> {
  const { providerReference, qr = null, paymentUrl = null, expiresAt, total } = charge;
  return host.database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from plan_order where id = ? for no key update', [orderId]);
    const recorded = await transaction.execute<unknown[]>(
      `update payment_attempt set charge = 'created', provider_reference = ?, qr = ?,
         payment_url = ?, amount = coalesce(?::bigint, amount), error = null, failures = 0,
         expires_at = coalesce(to_timestamp(?::float8 / 1000), expires_at)
       where reference = ? and coalesce(provider_reference, ?) = ? returning 1`,
      [
        providerReference,
        qr,
        paymentUrl,
        total?.amount ?? null,
        expiresAt?.getTime() ?? null,
        reference,
        providerReference,
        providerReference,
      ],
    );
    if (recorded.length === 0) return false;
    await transaction.execute(`update plan_order set state = 'pending' where id = ? and state = 'created'`, [orderId]);
    return true;
  });
}

async function recordFailure(host: Host, orderId: string, reference: string, error: PaymentError): Promise<void> {
  const charge = { rejected: 'rejected', temporary: 'none', unknown: 'unknown' }[error.kind];
  host.log.warn(`payment ${reference} could not be charged (${error.kind}): ${error.message}`);
  await host.database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from plan_order where id = ? for no key update', [orderId]);
    // A notification may have come first: the charge exists then.
    await transaction.execute(
      `update payment_attempt set charge = ?, error = ?, failures = failures + 1,
         next_check_at = case when ? = 'rejected' then null else clock_timestamp() + make_interval(secs => ?) end
       where reference = ? and charge in ('unknown', 'none') and provider_reference is null`,
      [charge, error.message.slice(0, 1_000), charge, Math.min(error.retryAfter ?? retryAfter, 300), reference],
    );
    if (charge !== 'rejected') return;
    await transaction.execute(
      `update plan_order set state = 'failed' where id = ? and state in ('created', 'pending')
         and not exists (select 1 from payment_attempt where reference = ? and charge <> 'rejected')`,
      [orderId, reference],
    );
  });
}
