import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import { parseNetwork } from '#core/gateway/http/network.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { takeRequest } from '#core/platform/shared/shared.ts';
import { lockAccount } from '../accounts/ledger.ts';
import { periodsInForceSql } from '../accounts/periods-in-force.ts';
import { maxDaysAhead } from '../accounts/plans.ts';
import { CheckoutError } from './checkout-error.ts';
import { paymentsSection } from './section.ts';

/*
 * Limits on unpaid orders. An account's orders are counted in the database under the account's lock, which is exact for any number of
 * instances. A network's charges are counted in the shared state, because orders do not store addresses.
 */

/** SQL condition that is true if an order can still be paid. */
export const openOrderCondition = `state in ('created', 'pending') and expires_at > clock_timestamp()`;

const hourSeconds = 3_600;

/**
 * Locks an account, so that its other orders wait until the transaction ends.
 *
 * @throws CheckoutError `blocked`
 */
export async function lockBuyer(transaction: EntityManager, accountId: string): Promise<void> {
  const { blockedAt, deletedAt } = await lockAccount(transaction, accountId);
  if (blockedAt !== undefined || deletedAt !== undefined)
    throw new CheckoutError('blocked', 'This account is blocked. It cannot buy plans.');
}

/**
 * Checks that an account may have another charge for this many days. The caller must hold the account's lock.
 *
 * @param days days that the account would gain; 0 for a gift
 * @throws CheckoutError `too_many_days`; `too_many_orders` and `too_many_charges`, with the time to try again
 */
export async function checkLimits(
  host: Pick<Host, 'section'>,
  transaction: EntityManager,
  accountId: string,
  days: number,
): Promise<void> {
  const limits = host.section(paymentsSection);
  await checkOpenOrders(transaction, accountId, days, limits.max_open_orders);
  await checkUnpaidCharges(transaction, accountId, limits.max_charges_per_hour);
}

async function checkOpenOrders(
  transaction: EntityManager,
  accountId: string,
  days: number,
  maxOrders: number,
): Promise<void> {
  const [sums] = await transaction.execute<{ orders: number; ahead: number; next: number | null }[]>(
    `select count(*)::int as orders, ${epoch('min(expires_at)')} as next,
     coalesce(sum(days) filter (where not is_gift), 0)::float8 + coalesce((
       select extract(epoch from max(ends_at) - clock_timestamp()) / 86400
       from ${periodsInForceSql} p where account_id = ? and ends_at > clock_timestamp()
     ), 0)::float8 as ahead
     from plan_order where account_id = ? and ${openOrderCondition}`,
    [accountId, accountId],
  );
  const { orders = 0, ahead = 0, next = null } = sums ?? {};
  if (days > 0 && ahead + days > maxDaysAhead)
    throw new CheckoutError(
      'too_many_days',
      `An account can have at most ${maxDaysAhead} days ahead, open orders included. Choose fewer days.`,
    );
  if (orders < maxOrders || next === null) return;
  const retryAt = new Date(next);
  throw new CheckoutError(
    'too_many_orders',
    `${orders} orders are open. Pay or cancel one of them first, or wait until ${retryAt.toISOString()}.`,
    retryAt,
  );
}

async function checkUnpaidCharges(transaction: EntityManager, accountId: string, maxCharges: number): Promise<void> {
  // Charges that the gateway replaced because their response was lost do not count: the buyer asked for them only once.
  const [charge] = await transaction.execute<{ next: number }[]>(
    `select ${epoch(`a.created_at + interval '1 hour'`)} as next
     from payment_attempt a join plan_order o on o.id = a.order_id
     where o.account_id = ? and o.state not in ('paid', 'refunded') and a.created_at > clock_timestamp() - interval '1 hour'
       and not (a.qr is null and a.payment_url is null and a.charge <> 'rejected'
         and exists (select 1 from payment_attempt b where b.order_id = a.order_id and b.number > a.number))
     order by a.created_at desc offset ? limit 1`,
    [accountId, maxCharges - 1],
  );
  if (charge !== undefined)
    throw tooManyCharges(`This account has made ${maxCharges} unpaid charges`, new Date(charge.next));
}

/**
 * Counts a charge against the limit of the buyer's network. Called last, so that an order rejected for its input or because the plan is
 * sold out does not use up the limit for other buyers in that network.
 *
 * @param address the buyer's IP address; undefined for a program
 * @throws CheckoutError `too_many_charges`, with the time to try again
 */
export async function countNetworkCharge(
  { section, shared, now }: Pick<Host, 'section' | 'shared' | 'now'>,
  address: string | undefined,
): Promise<void> {
  if (address === undefined) return;
  const { max_charges_per_hour_and_address: maxCharges } = section(paymentsSection);
  const limits = { limit: maxCharges, period: hourSeconds, burst: maxCharges };
  const waitSeconds = await takeRequest(shared, `charge:${parseNetwork(address)}`, limits);
  if (waitSeconds !== undefined)
    throw tooManyCharges(`Your network has made ${maxCharges} charges`, new Date(now() + waitSeconds * 1_000));
}

function tooManyCharges(statement: string, retryAt: Date): CheckoutError {
  const message = `${statement} within an hour. The next one can be made at ${retryAt.toISOString()}.`;
  return new CheckoutError('too_many_charges', message, retryAt);
}
