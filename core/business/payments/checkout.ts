import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { RateLimits } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { epoch, type Row } from '#core/platform/database/rows.ts';
import { periodsInForceSql } from '../accounts/periods-in-force.ts';
import { currencySection, selectLabel, plansSection } from '../accounts/plans.ts';
import { readStatus } from './ask-provider.ts';
import { cancelCharge, queueCharge, insertAttempt, maxAttempts, requireOrder } from './attempts.ts';
import { CheckoutError } from './checkout-error.ts';
import { getConfiguredProvider } from './connections.ts';
import type { PlanOrder } from './entities.ts';
import { sellsGifts } from './gifts.ts';
import { checkLimits, countNetworkCharge, openOrderCondition, lockBuyer } from './order-limits.ts';
import { type PlacedOrder, type RecordOrder, storeOrderLines } from './order-lines.ts';
import type { Order } from './order-types.ts';
import { generateOrderCode, readOrder } from './order.ts';
import { placeSteps } from './places.ts';
import { readCharge } from './read-charge.ts';
import { paymentsSection } from './section.ts';
import { providerIdColumns, settle } from './settle.ts';

const checkIntervalSeconds = 5;

type Offer = Pick<Order, 'days' | 'price' | 'currency' | 'label' | 'limits' | 'provider' | 'isGift'>;

interface OrderOptions {
  readonly address?: string | undefined; // the buyer's IP address, for the limit per network; omitted for a program
  readonly isGift?: boolean | undefined;
  readonly record?: RecordOrder | undefined;
}

/**
 * Orders a plan for an account and charges it. If there already is an open order for the same plan, returns that one, so that two tabs get
 * one order. If the provider is slow or accepts no calls at the moment, the order has no charge yet (`created`) and is charged later.
 *
 * @throws CheckoutError `no_provider`, `unknown_plan`, `no_gifts`, `too_many_days`, `too_many_orders`, `too_many_charges`, `sold_out`,
 *   `blocked`
 */
export async function startOrder(
  host: Host,
  accountId: string,
  days: number,
  { address, isGift = false, record }: OrderOptions = {},
): Promise<Order> {
  const offer = findOffer(host, days, isGift);
  const { order_minutes: minutes } = host.section(paymentsSection);
  const { id, isNew } = await host.database.fork().transactional(async (transaction): Promise<PlacedOrder> => {
    await lockBuyer(transaction, accountId);
    const openOrderId = await findOpenOrder(transaction, accountId, offer);
    const order = { id: openOrderId ?? randomUUIDv7(), accountId, isNew: openOrderId === undefined };
    if (order.isNew) {
      await checkLimits(host, transaction, accountId, isGift ? 0 : offer.days);
      await requirePlace(host, transaction, isGift ? undefined : accountId, offer.days);
      await insertOrder(transaction, order, offer, minutes);
    }
    if (record !== undefined) await storeOrderLines(transaction, order, await record(transaction, order));
    if (order.isNew) await countNetworkCharge(host, address);
    return order;
  });
  return isNew ? queueCharge(host, id) : requireOrder(host, id);
}

/**
 * Makes an expired or failed order payable again, at its original price and with another attempt. Returns an open or paid order unchanged.
 *
 * @throws CheckoutError `not_found`, `not_open`, `plan_changed`, `no_provider`, `unknown_plan`, `no_gifts`, `too_many_days`,
 *   `too_many_orders`, `too_many_charges`, `sold_out`, `blocked`
 */
export async function renewCharge(host: Host, orderId: string, address?: string): Promise<Order> {
  const order = await checkOrderAsBuyer(host, orderId);
  if (order.state === 'created' || order.state === 'pending' || order.state === 'paid') return order;
  if (order.state !== 'expired' && order.state !== 'failed')
    throw new CheckoutError('not_open', `Order ${order.code} can no longer be paid. Order the plan again.`);
  const offer = findOffer(host, order.days, order.isGift);
  if (offer.price !== order.price || offer.currency !== order.currency || offer.provider !== order.provider)
    throw new CheckoutError('plan_changed', `The plan of order ${order.code} has changed. Order it again.`);
  const isReopened = await host.database
    .fork()
    .transactional((transaction) => reopenOrder(host, transaction, order, address));
  return isReopened ? queueCharge(host, orderId) : requireOrder(host, orderId);
}

/**
 * Cancels an open order, both here and at the provider. A payment that still arrives activates the order.
 *
 * @throws CheckoutError `not_found`
 */
export async function cancelOrder(host: Host, orderId: string): Promise<Order> {
  const order = await findOrder(host, orderId);
  const cancelledRows = await host.database.query<unknown>(
    `update plan_order set state = 'cancelled' where id = ? and state in ('created', 'pending') returning 1`,
    [orderId],
  );
  const { attempt } = order;
  if (cancelledRows.length > 0 && attempt?.charge === 'created') await cancelCharge(host, order.provider, attempt);
  return requireOrder(host, orderId);
}

/**
 * Asks the provider for an order's status on behalf of its buyer, at most once per interval. A provider error does not change the order.
 *
 * @throws CheckoutError `not_found`
 */
export async function checkOrderAsBuyer(
  host: Host,
  orderId: string,
  minIntervalSeconds = checkIntervalSeconds,
): Promise<Order> {
  const order = await findOrder(host, orderId);
  const { attempt, provider } = order;
  if (attempt === undefined || attempt.charge === 'rejected' || attempt.charge === 'none') return order;
  if (order.state === 'paid' || order.state === 'refunded') return order;
  const claimedRows = await host.database.query<unknown>(
    `update payment_attempt set checked_at = clock_timestamp() where reference = ?
       and coalesce(checked_at, created_at) < clock_timestamp() - make_interval(secs => ?) returning 1`,
    [attempt.reference, minIntervalSeconds],
  );
  if (claimedRows.length === 0) return order;
  try {
    await settle(host, provider, await readStatus(host, provider, attempt, 'buyer'));
    await recordError(host, attempt.reference, null);
  } catch (error) {
    const { message } = error as Error;
    host.log.warn(`order ${order.code} could not be checked with ${provider}: ${message}`);
    await recordError(host, attempt.reference, message.slice(0, 1_000));
  }
  return requireOrder(host, orderId);
}

/**
 * Asks the provider about an order right away, for an operator: about its open charge and each of its payments, since these may have been
 * refunded there.
 *
 * @throws CheckoutError `not_found`, `no_answer`
 */
export async function checkOrderAsOperator(host: Host, orderId: string): Promise<void> {
  const { code, payments } = await checkOrderAsBuyer(host, orderId, 0);
  for (const { provider, ...charge } of await readPaidCharges(host, orderId)) {
    const evidence = await readCharge(host, provider, charge, 'buyer');
    if (evidence === undefined)
      throw new CheckoutError('no_answer', `Order ${code} could not be read at ${provider}. Try again later.`);
  }
  const { charge, error } = (await requireOrder(host, orderId)).attempt ?? {};
  if (error !== undefined && payments.length === 0 && (charge === 'created' || charge === 'unknown'))
    throw new CheckoutError('no_answer', `Order ${code} could not be read: ${error}`);
}

function readPaidCharges({ database }: Host, orderId: string) {
  return database.query<{
    provider: string;
    reference: string;
    providerReference: string | null;
    paymentId: string | null;
  }>(
    `select p.provider, p.reference, ${providerIdColumns}
     from payment p join payment_attempt a on a.reference = p.reference
     where p.order_id = ? order by p.paid_at`,
    [orderId],
  );
}

async function recordError({ database }: Host, reference: string, error: string | null): Promise<void> {
  // The buyer's page then says that the provider is unavailable, not that no payment arrived.
  await database.query('update payment_attempt set error = ? where reference = ?', [error, reference]);
}

/**
 * Computes when a plan would start and end if it were paid for now.
 *
 * @throws CheckoutError `no_provider`, `unknown_plan`
 */
export async function quotePlan(host: Host, accountId: string, days: number) {
  const { price, currency } = findOffer(host, days, false);
  const [row] = await host.database.query<{ starts_at: number }>(
    `select ${epoch(`greatest(clock_timestamp(), (select max(ends_at) from ${periodsInForceSql} p where account_id = ?))`)} as starts_at`,
    [accountId],
  );
  const startsAt = row?.starts_at ?? 0;
  return { startsAt: new Date(startsAt), endsAt: new Date(startsAt + days * 86_400_000), price, currency };
}

function findOffer(host: Host, days: number, isGift: boolean): Offer {
  const provider = getConfiguredProvider(host);
  const currency = host.section(currencySection);
  if (provider === undefined || !provider.currencies.includes(currency))
    throw new CheckoutError('no_provider', 'Plans cannot be bought here.');
  const plan = host.section(plansSection).find((candidate) => candidate.days === days);
  if (plan === undefined) throw new CheckoutError('unknown_plan', `There is no ${days}-day plan.`);
  if (isGift && !sellsGifts(host)) throw new CheckoutError('no_gifts', 'Passes cannot be bought as gifts here.');
  const { price, label, limits } = plan as typeof plan & { readonly limits?: RateLimits };
  return { days, price, currency, label: selectLabel('en', label), limits, provider: provider.name, isGift };
}

async function findOrder(host: Host, orderId: string): Promise<Order> {
  const order = await readOrder(host.database, { id: orderId });
  if (order === undefined) throw new CheckoutError('not_found', 'Order not found.');
  return order;
}

/** Call it after all other checks, so that the places are locked only briefly. */
async function requirePlace(
  host: Host,
  transaction: EntityManager,
  holder: string | undefined,
  days: number,
): Promise<void> {
  const steps = await placeSteps.findLoader(transaction)?.();
  if (steps === undefined) return;
  if (await steps.claimPlace(host, transaction, holder, days)) return;
  const advice = holder === undefined ? 'Try again later.' : 'Join the waiting list.';
  throw new CheckoutError('sold_out', `The ${days}-day plan is sold out. ${advice}`);
}

async function findOpenOrder(
  transaction: EntityManager,
  accountId: string,
  { days, price, currency, provider, isGift }: Offer,
): Promise<string | undefined> {
  // Skips orders that already have a payment, because their charge cannot be paid twice.
  const [row] = await transaction.execute<Row<typeof PlanOrder, 'id'>[]>(
    `select id from plan_order where account_id = ? and days = ? and price = ? and currency = ? and provider = ? and is_gift = ?
       and ${openOrderCondition}
       and not exists (select 1 from payment where order_id = plan_order.id)
     order by created_at desc limit 1`,
    [accountId, days, price, currency, provider, isGift],
  );
  return row?.id;
}

async function insertOrder(
  transaction: EntityManager,
  { id, accountId }: PlacedOrder,
  { days, price, currency, label, limits, provider, isGift }: Offer,
  minutes: number,
): Promise<void> {
  await transaction.execute(
    `insert into plan_order (id, code, account_id, days, price, currency, label, limits, provider, is_gift, expires_at)
     values (?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?, clock_timestamp() + make_interval(mins => ?))`,
    [
      id,
      generateOrderCode(),
      accountId,
      days,
      price,
      currency,
      label ?? null,
      limits === undefined ? null : JSON.stringify(limits),
      provider,
      isGift,
      minutes,
    ],
  );
  await insertAttempt(transaction, id);
}

/** Only its buyer can ask for this. Returns false if another tab has already reopened the order and is charging it. */
async function reopenOrder(
  host: Host,
  transaction: EntityManager,
  { id, code, accountId, days, isGift }: Order,
  address: string | undefined,
): Promise<boolean> {
  const [currentOrder] = await transaction.execute<Row<typeof PlanOrder, 'state'>[]>(
    'select state from plan_order where id = ? for no key update',
    [id],
  );
  if (currentOrder?.state !== 'expired' && currentOrder?.state !== 'failed') return false;
  await lockBuyer(transaction, accountId);
  const [attempts] = await transaction.execute<{ count: number }[]>(
    'select count(*)::int as count from payment_attempt where order_id = ?',
    [id],
  );
  if ((attempts?.count ?? 0) >= maxAttempts)
    throw new CheckoutError('not_open', `Order ${code} has been tried ${maxAttempts} times. Order the plan again.`);
  await checkLimits(host, transaction, accountId, isGift ? 0 : days);
  await requirePlace(host, transaction, isGift ? undefined : accountId, days);
  await transaction.execute(
    `update plan_order set state = 'created', expires_at = clock_timestamp() + make_interval(mins => ?) where id = ?`,
    [host.section(paymentsSection).order_minutes, id],
  );
  await insertAttempt(transaction, id);
  await countNetworkCharge(host, address);
  return true;
}
