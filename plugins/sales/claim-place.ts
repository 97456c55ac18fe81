import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import { heldPlaces, lockPlaces } from './places.ts';
import { hasLimits, getPlaceLimits } from './section.ts';
import { reservePlaces } from './waiting-list.ts';

/**
 * Checks that a plan may be ordered: the account renews, or a place is free and not reserved for the waiting list. No other order can take
 * a place until the transaction ends, so the order that the caller inserts gets it.
 *
 * @param accountId buyer's account; undefined for a gift
 */
export async function claimPlace(
  { section }: Pick<Host, 'section'>,
  transaction: EntityManager,
  accountId: string | undefined,
  days: number,
): Promise<boolean> {
  const limits = getPlaceLimits(section);
  if (!hasLimits(limits)) return true;
  await lockPlaces(transaction);
  await reservePlaces({ section }, transaction);
  const { all, ofPlan, holds, holdsPlan } = await countHeldPlaces(transaction, accountId ?? null, days);
  const maxOfPlan = limits.byPlan.get(days);
  return (holds || all < (limits.all ?? Infinity)) && (holdsPlan || ofPlan < (maxOfPlan ?? Infinity));
}

async function countHeldPlaces(transaction: EntityManager, accountId: string | null, days: number) {
  const [counts] = await transaction.execute<{ all: number; ofPlan: number; holds: boolean; holdsPlan: boolean }[]>(
    `select count(distinct holder)::float8 as "all",
       (count(distinct holder) filter (where days = ?))::float8 as "ofPlan",
       coalesce(bool_or(holder = ?), false) as holds,
       coalesce(bool_or(holder = ? and days = ?), false) as "holdsPlan"
     from ${heldPlaces} h`,
    [days, accountId, accountId, days],
  );
  return counts ?? { all: 0, ofPlan: 0, holds: false, holdsPlan: false };
}
