import { perCatalog, type Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { periodsInForce } from '../accounts/periods-in-force.ts';
import { countPlaces, type PlaceCount } from './sales-figures.ts';
import { hasLimits, placeLimits } from './section.ts';

/** Ms for which pages show what was counted before; orders are counted exactly. */
const maxAge = 5_000;
const deadline = 5_000;
/** Ms that a page waits for it. */
const patience = 1_000;

/** Why a plan is sold out to new customers. */
interface SoldOut {
  /** Epoch ms at which a place becomes free for one who joins the waiting list now, if nobody renews; undefined: nobody knows. */
  readonly freeAt: number | undefined;
}

/** Limits under which nothing is free: `all`, and plans by their days. */
export type FullLimits = ReadonlyMap<number | 'all', SoldOut>;

const readings = perCatalog(
  (host: Host) =>
    new FreshValue({ maxAge, deadline, patience, now: () => host.monotonic(), read: () => readFull(host) }),
);

/** What is sold out to new customers, at most five seconds ago. Reads nothing when there are no limits. */
export async function fullLimits(host: Host): Promise<FullLimits> {
  return hasLimits(placeLimits(host.section)) ? readings(host).get() : new Map();
}

/** Why one with these places cannot have a plan; undefined when it is to be had. @param held as `placesOf` returns it */
export function soldOut(full: FullLimits, days: number, held: readonly (number | null)[] = []): SoldOut | undefined {
  const reasons = [held.length > 0 ? undefined : full.get('all'), held.includes(days) ? undefined : full.get(days)];
  // Free under both: the later of the two, where both are known.
  return reasons.reduce((one, other) => {
    if (one === undefined || other === undefined) return one ?? other;
    if (one.freeAt === undefined || other.freeAt === undefined) return { freeAt: undefined };
    return { freeAt: Math.max(one.freeAt, other.freeAt) };
  });
}

async function readFull(host: Host): Promise<FullLimits> {
  const counts = await countPlaces(host);
  // Those that wait for a full plan take no place of the others.
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

/** When the pass ends that is so many after the first one to end. @param days of the plan; undefined: of all */
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
