import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import { lockAccount } from '#core/business/accounts/ledger.ts';
import { passReasonsSql, periodsInForceSql } from '#core/business/accounts/periods-in-force.ts';
import type { WaitingListEntry } from '#core/business/payments/places.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type Row, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import type { WaitingEntry } from './entities.ts';
import { heldPlaces } from './places.ts';
import { type PlaceLimits, getPlaceLimits, salesSection } from './section.ts';

const batchSize = 500; // entries that get a place per transaction

export interface ListedWait extends WaitingListEntry {
  readonly id: string;
  readonly accountId: string;
  readonly joinedAt: Date;
  readonly ordered: readonly number[]; // days of the plans in its orders that may still be paid
}

/** An account that is already on the list keeps its position. */
export async function joinWaitingList(
  { database }: Pick<Host, 'database'>,
  accountId: string,
  days: number,
): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    const { blockedAt, deletedAt } = await lockAccount(transaction, accountId);
    if (blockedAt !== undefined || deletedAt !== undefined) return;
    await transaction.execute(
      `insert into waiting_entry (id, account_id, days) values (?, ?, ?)
       on conflict (account_id) where ended_at is null do nothing`,
      [randomUUIDv7(), accountId, days],
    );
  });
}

/** A place reserved for the account goes to the next one. */
export async function leaveWaitingList({ database }: Pick<Host, 'database'>, accountId: string): Promise<void> {
  await database.query(
    `update waiting_entry set ended_at = clock_timestamp(), outcome = 'left' where account_id = ? and ended_at is null`,
    [accountId],
  );
}

/**
 * Reserves free places for waiting accounts, in the order in which they joined. Each gets an event, which is mailed once. An account whose
 * plan is full does not block those that wait for another plan. The caller must hold the lock of `lockPlaces`.
 */
export async function reservePlaces({ section }: Pick<Host, 'section'>, transaction: EntityManager): Promise<void> {
  const limits = getPlaceLimits(section);
  await endWaits(transaction, limits);
  const [waiting] = await transaction.execute<unknown[]>(
    'select 1 from waiting_entry where ended_at is null and reserved_until is null limit 1',
  );
  if (waiting === undefined) return;
  const free = await countFreePlaces(transaction, limits);
  for (const { id, account_id: accountId, days, holds, holds_plan: holdsPlan } of await findNextEntries(
    transaction,
    free,
  )) {
    const freeOfPlan = free.byPlan.get(days) ?? Infinity;
    if ((!holds && free.all <= 0) || (!holdsPlan && freeOfPlan <= 0)) continue;
    if (!holds) free.all--;
    if (!holdsPlan) free.byPlan.set(days, freeOfPlan - 1);
    await reservePlace(transaction, { id, accountId }, section(salesSection).reserve_minutes);
  }
}

async function reservePlace(
  transaction: EntityManager,
  { id, accountId }: Pick<ListedWait, 'id' | 'accountId'>,
  minutes: number,
): Promise<void> {
  const updatedRows = await transaction.execute<unknown[]>(
    `update waiting_entry set reserved_until = clock_timestamp() + make_interval(mins => ?)
     where id = ? and ended_at is null returning id`,
    [minutes, id],
  );
  if (updatedRows.length === 0) return;
  await recordEvent(transaction, 'place.reserved', { accountId, entryId: id }, `place.reserved:${id}`);
}

const formatLimitedPlansAsArray = ({ byPlan }: Pick<PlaceLimits, 'byPlan'>) => `{${[...byPlan.keys()].join(',')}}`;

/**
 * SQL condition: since the wait `e` began, it has led to a pass, bought or from a code. Days that were granted or credited do not end a
 * wait. Nor does a pass of another plan, if the awaited plan has its own limit.
 */
const boughtCondition = `exists (
  select from plan_period b left join plan_order o on o.id = b.order_id
  where b.account_id = e.account_id and b.reason in ${passReasonsSql} and b.created_at >= e.joined_at
    and (o.days = e.days or not e.days = any(?::integer[]))
    and exists (select from ${periodsInForceSql} p where p.account_id = e.account_id and p.ends_at > statement_timestamp()
      and (p.order_id = b.order_id or b.order_id is null)))`;

/** An account that its owner paused keeps its position. */
async function endWaits(transaction: EntityManager, limits: PlaceLimits): Promise<void> {
  await transaction.execute(
    `with ending as (
       select e.id, case when a.deleted_at is not null or (a.blocked_at is not null and a.paused_at is null) then 'left'
         when ${boughtCondition} then 'bought'
         when e.reserved_until <= statement_timestamp() then 'expired' end as outcome
       from waiting_entry e join account a on a.id = e.account_id where e.ended_at is null
     )
     update waiting_entry e set ended_at = clock_timestamp(), outcome = ending.outcome
     from ending where e.id = ending.id and e.ended_at is null and ending.outcome is not null`,
    [formatLimitedPlansAsArray(limits)],
  );
}

interface FreePlaces {
  all: number;
  readonly byPlan: Map<number, number>; // by the plan's days, for plans that have a limit
}

async function countFreePlaces(transaction: EntityManager, { all, byPlan }: PlaceLimits): Promise<FreePlaces> {
  const rows = await transaction.execute<{ days: number | null; held: number }[]>(
    `select null::integer as days, count(distinct holder)::float8 as held from ${heldPlaces} h
     union all
     select days, count(distinct holder)::float8 from ${heldPlaces} h where days = any(?::integer[]) group by days`,
    [formatLimitedPlansAsArray({ byPlan })],
  );
  const heldByPlan = new Map(rows.map((row) => [row.days, row.held]));
  return {
    all: all === undefined ? Infinity : all - (heldByPlan.get(null) ?? 0),
    byPlan: new Map([...byPlan].map(([days, max]) => [days, max - (heldByPlan.get(days) ?? 0)])),
  };
}

interface NextEntry extends Row<typeof WaitingEntry, 'id' | 'account_id' | 'days'> {
  readonly holds: boolean; // if true, the entry needs a free place only under the plan's limit
  readonly holds_plan: boolean;
}

async function findNextEntries(transaction: EntityManager, free: FreePlaces): Promise<NextEntry[]> {
  const full = [...free.byPlan].flatMap(([days, freeCount]) => (freeCount <= 0 ? [days] : []));
  return transaction.execute<NextEntry[]>(
    `with held as materialized (select holder, days from ${heldPlaces} h)
     select * from (
       select e.id, e.account_id, e.days, e.joined_at,
         exists (select from held h where h.holder = e.account_id) as holds,
         exists (select from held h where h.holder = e.account_id and h.days = e.days) as holds_plan
       from waiting_entry e join account a on a.id = e.account_id
       where e.ended_at is null and e.reserved_until is null and a.paused_at is null
     ) x
     where (holds or ?::boolean) and (holds_plan or not days = any(?::integer[])) order by joined_at, id limit ${batchSize}`,
    [free.all > 0, `{${full.join(',')}}`],
  );
}

const columns = `id, account_id, days, ${epochs('joined_at', 'reserved_until')},
  array(select o.days from plan_order o where o.account_id = e.account_id and o.state in ('created', 'pending') and not o.is_gift) as ordered`;
type WaitRow = Row<typeof WaitingEntry, 'id' | 'account_id' | 'days' | 'joined_at' | 'reserved_until'> & {
  readonly position: number;
  readonly ordered: readonly number[];
};

function toWait(row: WaitRow, { byPlan }: Pick<PlaceLimits, 'byPlan'>): ListedWait {
  const { days, reserved_until: reservedUntil, ordered } = row;
  const isOrdered = reservedUntil !== null && ordered.some((plan) => plan === days || !byPlan.has(days));
  return { ...toRecord(row), isOrdered };
}

export async function listWaiting(
  { database, section }: Pick<Host, 'database' | 'section'>,
  limit: number,
): Promise<ListedWait[]> {
  const rows = await database.query<WaitRow>(
    `select ${columns}, case when reserved_until is null
       then row_number() over (partition by reserved_until is null order by joined_at, id) else 0 end::float8 as position
     from waiting_entry e where ended_at is null order by e.reserved_until is null, e.joined_at, id limit ?`,
    [limit],
  );
  const limits = getPlaceLimits(section);
  return rows.map((row) => toWait(row, limits));
}

/** Undefined if the account is not on the list or already has the awaited pass. */
export async function findWait(
  { database, section }: Pick<Host, 'database' | 'section'>,
  accountId: string,
): Promise<ListedWait | undefined> {
  const limits = getPlaceLimits(section);
  const [row] = await database.query<WaitRow>(
    `select ${columns}, case when reserved_until is not null then 0 else 1 + (
       select count(*) from waiting_entry f where f.ended_at is null and f.reserved_until is null
         and (f.joined_at, f.id) < (e.joined_at, e.id)) end::float8 as position
     from waiting_entry e where account_id = ? and ended_at is null and not ${boughtCondition}`,
    [accountId, formatLimitedPlansAsArray(limits)],
  );
  return row && toWait(row, limits);
}

export interface PastWait {
  readonly days: number;
  readonly joinedAt: Date;
  readonly reservedAt: Date | undefined; // undefined if no place was reserved, or its event has been deleted
  readonly reservedUntil: Date | undefined;
}

export async function listWaits(database: Queries, accountId: string, limit: number): Promise<PastWait[]> {
  const rows = await database.query<RowOf<PastWait, typeof WaitingEntry>>(
    `select days, ${epochs('joined_at', 'reserved_until')}, (
       select extract(epoch from v.created_at) * 1000 from account_event v where v.dedupe_key = 'place.reserved:' || e.id
     )::float8 as reserved_at
     from waiting_entry e where account_id = ? order by e.joined_at desc limit ?`,
    [accountId, limit],
  );
  return rows.map(toRecord);
}

export async function findReservation(
  database: Queries,
  id: string,
): Promise<{ readonly days: number; readonly until: Date; readonly isOpen: boolean } | undefined> {
  const [row] = await database.query<{ days: number; reserved_until: number; is_open: boolean }>(
    `select days, ${epochs('reserved_until')}, ended_at is null and e.reserved_until > statement_timestamp() as is_open
     from waiting_entry e where id::text = ? and e.reserved_until is not null`,
    [id],
  );
  return row && { days: row.days, until: new Date(row.reserved_until), isOpen: row.is_open };
}
