import type { EntityManager } from '@mikro-orm/postgresql';
import { lockAccount } from '../accounts/ledger.ts';
import { periodsInForce } from '../accounts/periods-in-force.ts';
import { maxDaysAhead } from '../accounts/plans.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { networkOf } from '#core/gateway/http/network.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { refusedFor } from '#core/platform/shared/shared.ts';
import { CheckoutError } from './checkout-error.ts';
import { paymentsSection } from './section.ts';

/*
 * Limits on unpaid orders. Accounts are counted in the database under their lock: exactly, for any number of instances. Networks are
 * counted in the shared state, because the addresses of orders are not stored.
 */

/** SQL condition: the `plan_order` can still be paid. */
export const isOpen = `state in ('created', 'pending') and expires_at > clock_timestamp()`;

const hour = 3_600; // seconds

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
 * Checks that an account may have another charge for this many days. The caller holds the account's lock.
 *
 * @param days that the account would get; 0 for a gift
 * @throws CheckoutError `too_many_days`; with the time of the next try: `too_many_orders`, `too_many_charges`
 */
export async function checkLimits(
  host: Pick<Host, 'section'>,
  transaction: EntityManager,
  accountId: string,
  days: number,
): Promise<void> {
  const limits = host.section(paymentsSection);
  await checkOpen(transaction, accountId, days, limits.max_open_orders);
  await checkAccount(transaction, accountId, limits.max_charges_per_hour);
}

async function checkOpen(transaction: EntityManager, accountId: string, days: number, max: number): Promise<void> {
  const [sums] = await transaction.execute<{ orders: number; ahead: number; next: number | null }[]>(
    `select count(*)::int as orders, ${epoch('min(expires_at)')} as next, coalesce(sum(days) filter (where not is_gift), 0)::float8 + coalesce((
       select extract(epoch from max(ends_at) - clock_timestamp()) / 86400
       from ${periodsInForce} p where account_id = ? and ends_at > clock_timestamp()
     ), 0)::float8 as ahead
     from plan_order where account_id = ? and ${isOpen}`,
    [accountId, accountId],
  );
  const { orders = 0, ahead = 0, next = null } = sums ?? {};
  if (days > 0 && ahead + days > maxDaysAhead)
    throw new CheckoutError(
      'too_many_days',
      `An account can have at most ${maxDaysAhead} days ahead, open orders included. Choose fewer days.`,
    );
  if (orders < max || next === null) return;
  const at = new Date(next);
  throw new CheckoutError(
    'too_many_orders',
    `${orders} orders are open. Pay or cancel one of them first, or wait until ${at.toISOString()}.`,
    at,
  );
}

/**
 * Counts unpaid charges of the last hour, except those that the gateway replaced because their response was lost: the buyer asked only
 * once.
 */
async function checkAccount(transaction: EntityManager, accountId: string, max: number): Promise<void> {
  const [oldest] = await transaction.execute<{ next: number }[]>(
    `select ${epoch(`a.created_at + interval '1 hour'`)} as next
     from payment_attempt a join plan_order o on o.id = a.order_id
     where o.account_id = ? and o.state not in ('paid', 'refunded') and a.created_at > clock_timestamp() - interval '1 hour'
       and not (a.qr is null and a.payment_url is null and a.charge <> 'rejected'
         and exists (select 1 from payment_attempt b where b.order_id = a.order_id and b.number > a.number))
     order by a.created_at desc offset ? limit 1`,
    [accountId, max - 1],
  );
  if (oldest !== undefined) throw tooManyCharges(`This account has made ${max} charges`, new Date(oldest.next));
}

/**
 * Counts a charge of the buyer's network. Called last, because an order rejected for its input, or because no place is left, must not use
 * up the limit of everyone else there.
 *
 * @param address of the buyer; undefined for a program
 * @throws CheckoutError `too_many_charges`, with the time of the next one
 */
export async function countInNetwork(
  { section, shared, now }: Pick<Host, 'section' | 'shared' | 'now'>,
  address: string | undefined,
): Promise<void> {
  if (address === undefined) return;
  const { max_charges_per_hour_and_address: max } = section(paymentsSection);
  const limits = { limit: max, period: hour, burst: max };
  const wait = await refusedFor(shared, `charge:${networkOf(address)}`, limits);
  if (wait !== undefined) throw tooManyCharges(`Your network has made ${max} charges`, new Date(now() + wait * 1_000));
}

function tooManyCharges(who: string, next: Date): CheckoutError {
  const message = `${who} within an hour that were not paid. The next one can be made at ${next.toISOString()}.`;
  return new CheckoutError('too_many_charges', message, next);
}
