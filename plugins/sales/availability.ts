import { periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';
import { plansSection } from '#core/business/accounts/plans.ts';
import type { SoldOut, SoldOutPlans } from '#core/business/payments/places.ts';
import { type Host, cacheReading } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { listHeldPlans } from './places.ts';
import { countPlaces, type PlaceCount } from './sales-figures.ts';
import { hasLimits, getPlaceLimits } from './section.ts';

const maxAgeMs = 5_000; // orders always use exact counts
const timeoutMs = 5_000;
const maxWaitMs = 1_000; // how long a page waits for fresh counts

type FullLimits = ReadonlyMap<number | 'all', SoldOut>; // by `all`, or by a plan's days

const limitReadings = cacheReading({ maxAgeMs, timeoutMs, maxWaitMs }, readFullLimits);

/** `accountId` is undefined for visitors. Makes no query if there are no limits. */
export async function readSoldOut(host: Host, accountId: string | undefined): Promise<SoldOutPlans> {
  const full = hasLimits(getPlaceLimits(host.section)) ? await limitReadings(host).get() : undefined;
  if (full === undefined || full.size === 0) return new Map();
  const heldPlans = accountId === undefined ? [] : await listHeldPlans(host.database, accountId);
  const plans = host.section(plansSection).map(({ days }) => [days, findSoldOut(full, days, heldPlans)] as const);
  return new Map(plans.flatMap(([days, reason]) => (reason === undefined ? [] : [[days, reason] as const])));
}

function findSoldOut(full: FullLimits, days: number, heldPlans: readonly (number | null)[]): SoldOut | undefined {
  const reasons = [
    heldPlans.length > 0 ? undefined : full.get('all'),
    heldPlans.includes(days) ? undefined : full.get(days),
  ];
  // A place must be free under both limits, so the later time counts, provided that both are known.
  return reasons.reduce((first, second) => {
    if (first === undefined || second === undefined) return first ?? second;
    if (first.freeAt === undefined || second.freeAt === undefined) return { freeAt: undefined };
    return { freeAt: Math.max(first.freeAt, second.freeAt) };
  });
}

async function readFullLimits(host: Host): Promise<FullLimits> {
  const counts = await countPlaces(host);
  // Accounts that wait for a full plan take no places of other plans.
  const blockedWaits = counts.reduce(
    (sum, { days, held, max, waiting }) => (days !== undefined && held >= max ? sum + waiting : sum),
    0,
  );
  const full = counts.flatMap((count) => {
    const ahead = count.held - count.max + count.waiting - (count.days === undefined ? blockedWaits : 0);
    return ahead < 0 ? [] : [{ ...count, ahead }];
  });
  const readLimit = async ({ days, ahead }: PlaceCount & { readonly ahead: number }) =>
    [days ?? 'all', { freeAt: await readPassEnd(host.database, days, ahead) }] as const;
  return new Map(await Promise.all(full.map(readLimit)));
}

/** Orders accounts by the end of their pass, and returns the end at position `after`. */
async function readPassEnd(database: Queries, days: number | undefined, after: number): Promise<number | undefined> {
  const [row] = await database.query<{ at: number }>(
    `select ${epoch('max(p.ends_at)')} as at
     from ${periodsInForceSql} p join account a on a.id = p.account_id left join plan_order o on o.id = p.order_id
     where p.ends_at > statement_timestamp() and a.deleted_at is null and (?::integer is null or o.days = ?::integer)
     group by p.account_id order by at offset ? limit 1`,
    [days ?? null, days ?? null, after],
  );
  return row?.at;
}
