import { type Host, cacheReading } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { periodsInForce } from '#core/business/accounts/periods-in-force.ts';
import { plansSection } from '#core/business/accounts/plans.ts';
import type { SoldOut, SoldOutPlans } from '#core/business/payments/places.ts';
import { placesOf } from './places.ts';
import { countPlaces, type PlaceCount } from './sales-figures.ts';
import { hasLimits, placeLimits } from './section.ts';

/** Maximum age of the counts on pages, ms; orders always use exact counts. */
const maxAge = 5_000;
const deadline = 5_000;
/** Ms that a page waits for a fresh count. */
const patience = 1_000;

/** Limits without free places: `all`, and plans by their days. */
type FullLimits = ReadonlyMap<number | 'all', SoldOut>;

const readings = cacheReading({ maxAgeMs: maxAge, timeoutMs: deadline, maxWaitMs: patience }, readFull);

/** Plans sold out to an account, or to visitors; at most five seconds old. No query without limits. */
export async function readSoldOut(host: Host, accountId: string | undefined): Promise<SoldOutPlans> {
  const full = hasLimits(placeLimits(host.section)) ? await readings(host).get() : undefined;
  if (full === undefined || full.size === 0) return new Map();
  const held = accountId === undefined ? [] : await placesOf(host.database, accountId);
  const plans = host.section(plansSection).map(({ days }) => [days, soldOut(full, days, held)] as const);
  return new Map(plans.flatMap(([days, reason]) => (reason === undefined ? [] : [[days, reason] as const])));
}

/** Reason why an account with these places cannot buy a plan; undefined if it can. @param held result of `placesOf` */
function soldOut(full: FullLimits, days: number, held: readonly (number | null)[]): SoldOut | undefined {
  const reasons = [held.length > 0 ? undefined : full.get('all'), held.includes(days) ? undefined : full.get(days)];
  // A place must be free under both limits: the later time counts, if both are known.
  return reasons.reduce((first, second) => {
    if (first === undefined || second === undefined) return first ?? second;
    if (first.freeAt === undefined || second.freeAt === undefined) return { freeAt: undefined };
    return { freeAt: Math.max(first.freeAt, second.freeAt) };
  });
}

async function readFull(host: Host): Promise<FullLimits> {
  const counts = await countPlaces(host);
  // Accounts that wait for a full plan take no places of other plans.
  const stuck = counts.reduce(
    (sum, { days, held, max, waiting }) => (days !== undefined && held >= max ? sum + waiting : sum),
    0,
  );
  const full = counts.flatMap((count) => {
    const ahead = count.held - count.max + count.waiting - (count.days === undefined ? stuck : 0);
    return ahead < 0 ? [] : [{ ...count, ahead }];
  });
  const read = async ({ days, ahead }: PlaceCount & { readonly ahead: number }) =>
    [days ?? 'all', { freeAt: await readEnd(host.database, days, ahead) }] as const;
  return new Map(await Promise.all(full.map(read)));
}

/** End of an account's passes, for the account at index `after` by end time. @param days of the plan; undefined for all plans */
async function readEnd(
  database: Pick<Database, 'query'>,
  days: number | undefined,
  after: number,
): Promise<number | undefined> {
  const [row] = await database.query<{ at: number }>(
    `select ${epoch('max(p.ends_at)')} as at
     from ${periodsInForce} p join account a on a.id = p.account_id left join plan_order o on o.id = p.order_id
     where p.ends_at > statement_timestamp() and a.deleted_at is null and (?::integer is null or o.days = ?::integer)
     group by p.account_id order by at offset ? limit 1`,
    [days ?? null, days ?? null, after],
  );
  return row?.at;
}
