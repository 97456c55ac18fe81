import type { Database } from '#core/platform/database/database.ts';

/** How an order is paid, and how the gateway learns of it. */
export type Way = 'evidence' | 'hint' | 'silent' | 'wrong' | 'never';

/** An order of the soak, and what the bank knows about it. */
export interface SoakOrder {
  readonly id: string;
  readonly accountId: string;
  readonly days: number;
  readonly way: Way;
  readonly paidAt: number; // epoch ms
  /** Without kills: its times count. */
  readonly isCalm: boolean;
}

/** What went wrong, one line each. */
interface Audit {
  readonly doubled: readonly string[];
  readonly missed: readonly string[];
  readonly given: readonly string[];
  readonly unflagged: readonly string[];
  readonly wrongDays: readonly string[];
}

interface Entry {
  readonly id: string;
  readonly state: string;
  readonly periods: number;
  readonly events: number;
  readonly flags: number;
  readonly created_at: number | null; // epoch ms, of the period
}

const isPaid = ({ way }: SoakOrder) => way !== 'wrong' && way !== 'never';

/** Compares orders, ledger and events with what was paid. */
export async function auditOrders(database: Database, orders: readonly SoakOrder[]): Promise<Audit> {
  const entries = await readEntries(database);
  const lines = (isWrong: (order: SoakOrder, entry: Entry | undefined) => boolean) =>
    orders
      .filter((order) => isWrong(order, entries.get(order.id)))
      .map((order) => `${order.way}: ${JSON.stringify(entries.get(order.id))}`);
  return {
    doubled: lines((_, entry) => (entry?.periods ?? 0) > 1 || (entry?.events ?? 0) > 1),
    missed: lines((order, entry) => isPaid(order) && (entry?.periods !== 1 || entry.events !== 1)),
    given: lines((order, entry) => !isPaid(order) && (entry?.periods ?? 0) > 0),
    unflagged: lines((order, entry) => order.way === 'wrong' && entry?.flags !== 1),
    wrongDays: await findWrongDays(database, orders),
  };
}

/** Seconds from the payment at the bank to the period in the ledger. */
export async function secondsToActive(
  database: Database,
  orders: readonly SoakOrder[],
): Promise<{ readonly order: SoakOrder; readonly seconds: number }[]> {
  const entries = await readEntries(database);
  return orders.flatMap((order) => {
    const at = entries.get(order.id)?.created_at ?? undefined;
    return at === undefined ? [] : [{ order, seconds: Math.max(0, (at - order.paidAt) / 1_000) }];
  });
}

/** Receipts of payments without a number, and numbers that are missing or twice there. Seconds from storing to numbering. */
export async function auditReceipts(database: Database): Promise<{
  readonly unstored: readonly string[];
  readonly gaps: readonly string[];
  readonly seconds: readonly number[];
}> {
  const unstored = await database.query<{ id: string }>(
    'select id::text from payment p where not exists (select from receipt r where r.payment_id = p.id and r.number is not null)',
  );
  const rows = await database.query<{ number: number; seconds: number }>(
    `select number::float8 as number, extract(epoch from numbered_at - created_at)::float8 as seconds
     from receipt where kind = 'payment' and number is not null order by number`,
  );
  const [series] = await database.query<{ last: number }>(
    `select last::float8 as last from receipt_series where kind = 'payment'`,
  );
  const gaps = rows.flatMap(({ number }, index) => (number === index + 1 ? [] : [`${number} in place ${index + 1}`]));
  if (series?.last !== rows.length) gaps.push(`${rows.length} numbers, and the last one is ${series?.last}`);
  return { unstored: unstored.map(({ id }) => id), gaps, seconds: rows.map(({ seconds }) => seconds) };
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

async function readEntries(database: Database): Promise<Map<string, Entry>> {
  const rows = await database.query<Entry>(
    // Each table is read once: a subquery by order takes minutes for 10,000 of them.
    `with period as (
       select order_id, count(*)::int as periods, (extract(epoch from min(created_at)) * 1000)::float8 as created_at
       from plan_period where order_id is not null group by order_id),
     event as (
       select dedupe_key, count(*)::int as events from account_event where name = 'order.paid' group by dedupe_key),
     flag as (select order_id, count(*)::int as flags from order_flag group by order_id)
     select o.id, o.state, coalesce(periods, 0) as periods, coalesce(events, 0) as events, coalesce(flags, 0) as flags,
       period.created_at
     from plan_order o
     left join period on period.order_id = o.id
     left join event on event.dedupe_key = 'order.paid:' || o.id
     left join flag on flag.order_id = o.id`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

async function findWrongDays(database: Database, orders: readonly SoakOrder[]): Promise<string[]> {
  const rows = await database.query<{ account_id: string; days: number }>(
    `select account_id, (sum(extract(epoch from ends_at - starts_at)) / 86400)::float8 as days
     from plan_period group by account_id`,
  );
  const held = new Map(rows.map(({ account_id: id, days }) => [id, days]));
  return [...Map.groupBy(orders, ({ accountId }) => accountId)].flatMap(([accountId, own]) => {
    const paid = own.filter(isPaid).reduce((sum, { days }) => sum + days, 0);
    const has = held.get(accountId) ?? 0;
    return has === paid ? [] : [`${accountId}: holds ${has} days, paid ${paid}`];
  });
}
