import { periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';
import { gaugeBy } from '#core/gateway/health/gauge.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { heldPlaces } from './places.ts';
import { hasLimits, getPlaceLimits } from './section.ts';
import { listWaiting, type ListedWait } from './waiting-list.ts';

/**
 * Who holds a place: a pass that was bought, paid after its order had ended (`late`), or given by the operator or a code; an unredeemed
 * gift that was bought in time; an order that may still be paid; a reservation. A pass keeps the kind with which it began, even after
 * renewals.
 */
export const placeKinds = ['bought', 'late', 'given', 'gift', 'ordered', 'reserved'] as const;
type PlaceKind = (typeof placeKinds)[number];

export interface PlaceCount {
  readonly days: number | undefined; // length of the plan; undefined for all plans together
  readonly max: number;
  readonly held: number;
  readonly byKind: Readonly<Record<PlaceKind, number>>;
  readonly waiting: number; // under this limit, without a reservation
}

export async function countPlaces({ database, section }: Pick<Host, 'database' | 'section'>): Promise<PlaceCount[]> {
  const limits = getPlaceLimits(section);
  if (!hasLimits(limits)) return [];
  const [counts, waits] = await Promise.all([countByKind(database), countWaits(database)]);
  const scopes = [...(limits.all === undefined ? [] : [[0, limits.all] as const]), ...limits.byPlan];
  return scopes.map(([scope, max]) => {
    const byKind = Object.fromEntries(
      placeKinds.map((kind) => [
        kind,
        counts.find((count) => count.scope === scope && count.kind === kind)?.count ?? 0,
      ]),
    ) as Record<PlaceKind, number>;
    const held = placeKinds.reduce((sum, kind) => sum + byKind[kind], 0);
    const waiting = waits.reduce((sum, { days, count }) => (scope === 0 || days === scope ? sum + count : sum), 0);
    return { days: scope === 0 ? undefined : scope, max, held, byKind, waiting };
  });
}

/** Counts each holder once per scope: 0 for all plans, otherwise a plan's days. */
function countByKind(database: Queries): Promise<{ scope: number; kind: PlaceKind; count: number }[]> {
  return database.query(
    `with held as materialized (select * from ${heldPlaces} h),
     -- How the current pass of each account began
     first_period as (
       select distinct on (p.account_id) p.account_id,
         case when p.order_id is null then 'given' when o.is_late then 'late' else 'bought' end as kind
       from ${periodsInForceSql} p left join plan_order o on o.id = p.order_id
       where p.account_id in (select holder from held where kind = 'pass') and not exists (
         select from ${periodsInForceSql} q
         where q.account_id = p.account_id and q.starts_at < p.starts_at and q.ends_at >= p.starts_at)
       order by p.account_id, p.starts_at desc
     ), holding as (
       -- A holder counts once per scope: a pass or gift before an order, an order before a reservation
       select h.holder, h.days,
         case h.kind when 'pass' then first_period.kind when 'gift' then 'gift' when 'late gift' then 'late' when 'order' then 'ordered'
           else 'reserved' end as kind,
         case h.kind when 'order' then 2 when 'reservation' then 3 else 1 end as rank
       from held h left join first_period on first_period.account_id = h.holder
     )
     select scope, kind, count(*)::float8 as count from (
       select distinct on (scope, holder) scope, kind from (
         select 0 as scope, holder, kind, rank from holding
         union all select days, holder, kind, rank from holding where days is not null
       ) scoped order by scope, holder, rank
     ) counted group by scope, kind`,
  );
}

function countWaits(database: Queries): Promise<{ days: number; count: number }[]> {
  return database.query(
    `select days, count(*)::float8 as count from waiting_entry
     where ended_at is null and reserved_until is null group by days`,
  );
}

export interface SalesDayRow {
  readonly day: string;
  readonly days: number | undefined; // undefined for the limit of all plans
  readonly max: number;
  readonly held: number;
  readonly late: number;
  readonly waiting: number;
}

export async function listSalesDays(database: Queries, dayCount: number): Promise<SalesDayRow[]> {
  const rows = await database.query<Omit<SalesDayRow, 'days'> & { days: number }>(
    `select to_char(day, 'YYYY-MM-DD') as day, plan_days as days, max_active as max, held, late, waiting from sales_day
     where day > current_date - ?::integer order by sales_day.day desc, plan_days, max_active limit 1000`,
    [dayCount],
  );
  return rows.map((row) => ({ ...row, days: row.days === 0 ? undefined : row.days }));
}

const reportLimits = { waits: 10_000, days: 28 };

export interface SalesReport {
  readonly places: readonly PlaceCount[];
  readonly waiting: readonly ListedWait[];
  readonly days: readonly SalesDayRow[];
}

export async function readSales(host: Pick<Host, 'database' | 'section'>): Promise<SalesReport> {
  const [places, waiting, days] = await Promise.all([
    countPlaces(host),
    listWaiting(host, reportLimits.waits),
    listSalesDays(host.database, reportLimits.days),
  ]);
  return { places, waiting, days };
}

const getPlanLabel = (days: number | undefined) => (days === undefined ? 'all' : String(days));

/** The same on all instances; nothing if there are no limits. */
export const salesGauges = [
  gaugeBy(
    ['plan', 'kind'],
    'sales_places',
    'Held places by kind (bought, late, given, gift, ordered, reserved) and by days of the plan, or all.',
    async (host) =>
      (await countPlaces(host)).flatMap(({ days, byKind }) =>
        placeKinds.map((kind) => [getPlanLabel(days), kind, byKind[kind]] as const),
      ),
  ),
  gaugeBy(['plan'], 'sales_max_active', 'Maximum places, by days of the plan, or all.', (host) => {
    const { all, byPlan } = getPlaceLimits(host.section);
    const limits = [...(all === undefined ? [] : [[undefined, all] as const]), ...byPlan];
    return limits.map(([days, value]) => [getPlanLabel(days), value]);
  }),
  gaugeBy(['plan'], 'sales_waiting', 'Accounts that wait for a place, by the days of the plan, or all.', async (host) =>
    (await countPlaces(host)).map(({ days, waiting }) => [getPlanLabel(days), waiting]),
  ),
];
