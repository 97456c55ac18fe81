import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import { heldPlaces, lockPlaces } from './places.ts';
import { hasLimits, placeLimits } from './section.ts';
import { reservePlaces } from './waiting-list.ts';

/**
 * Whether an account may order a plan: it renews, or a place is free that nobody waits for. Until the transaction ends, nobody else
 * takes a place, so the order that the caller inserts takes this one.
 */
export async function claimPlace(
  { section }: Pick<Host, 'section'>,
  transaction: EntityManager,
  accountId: string,
  days: number,
): Promise<boolean> {
  const limits = placeLimits(section);
  if (!hasLimits(limits)) return true;
  await lockPlaces(transaction);
  await reservePlaces({ section }, transaction);
  const { all, ofPlan, holds, holdsPlan } = await countFor(transaction, accountId, days);
  const most = limits.byPlan.get(days);
  return (holds || all < (limits.all ?? Infinity)) && (holdsPlan || ofPlan < (most ?? Infinity));
}

async function countFor(transaction: EntityManager, accountId: string, days: number) {
  const [counts] = await transaction.execute<{ all: number; ofPlan: number; holds: boolean; holdsPlan: boolean }[]>(
    `select count(distinct account_id)::float8 as "all",
       (count(distinct account_id) filter (where days = ?))::float8 as "ofPlan",
       coalesce(bool_or(account_id = ?), false) as holds,
       coalesce(bool_or(account_id = ? and days = ?), false) as "holdsPlan"
     from ${heldPlaces} h`,
    [days, accountId, accountId, days],
  );
  return counts ?? { all: 0, ofPlan: 0, holds: false, holdsPlan: false };
}
