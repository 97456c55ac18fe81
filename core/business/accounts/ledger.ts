import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { RateLimits } from '#core/gateway/facts.ts';
import type { Transactions } from '#core/platform/database/database.ts';
import { epochs, type RecordOf, type Row, toRecord } from '#core/platform/database/rows.ts';
import { AccountError } from './account-error.ts';
import { recordEvent } from './account-events.ts';
import type * as entities from './entities.ts';
import { periodsInForceSql } from './periods-in-force.ts';
import { maxDaysAhead } from './plans.ts';

/** A new entry in the ledger of paid time. */
export interface NewPeriod {
  readonly days: number; // of 24 hours
  readonly reason: 'grant' | 'order' | 'voucher' | 'gift';
  readonly label?: string | undefined; // human-readable name of what was bought
  readonly note?: string | undefined; // reason, for operators
  /** The order that bought it. Required for the reasons `order` and `gift`; an order can be used only once. */
  readonly orderId?: string | undefined;
  /** The voucher that adds it. Required for the reasons `voucher` and `gift`; a voucher can be used only once. */
  readonly voucherId?: string | undefined;
  readonly limits?: RateLimits | undefined;
}

type AddedPeriod = RecordOf<Row<typeof entities.PlanPeriodSchema, 'id' | 'days' | 'starts_at' | 'ends_at'>>;

/**
 * Adds paid days to an account, from the end of its last period in force, or from now if that has ended, by the database's clock. Runs in
 * the caller's transaction and keeps the account's row locked until it ends; otherwise, two concurrent additions would start at the same
 * time and days would be lost.
 *
 * Grants, vouchers and gifts cannot reach more than a year ahead. Days that an account bought for itself are always added: the limit was
 * checked when the order was placed, and a received payment always adds its days.
 *
 * @throws AccountError `not_found`, `too_many_days`
 */
export async function addDays(transaction: EntityManager, accountId: string, period: NewPeriod): Promise<AddedPeriod> {
  await lockAccount(transaction, accountId);
  const { days, reason, label = null, note = null, orderId = null, voucherId = null, limits } = period;
  const id = randomUUIDv7();
  // Not now(), which is when the transaction started, before it waited for the lock.
  const [inserted] = await transaction.execute<
    Row<typeof entities.PlanPeriodSchema, 'id' | 'days' | 'starts_at' | 'ends_at'>[]
  >(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, label, reason, note, order_id, voucher_id, limits)
     select ?, ?, start, start + length, ?, ?, ?, ?, ?, ?, ?::jsonb
     from (select greatest(clock_timestamp(), (select max(ends_at) from ${periodsInForceSql} p where account_id = ?)) as start) s,
       make_interval(hours => 24 * ?) as length
     where start + length <= clock_timestamp() + make_interval(hours => 24 * ?) or ? = 'order'
     returning id, days, ${epochs('starts_at', 'ends_at')}`,
    [
      id,
      accountId,
      days,
      label,
      reason,
      note,
      orderId,
      voucherId,
      limits === undefined ? null : JSON.stringify(limits),
      accountId,
      days,
      maxDaysAhead,
      reason,
    ],
  );
  if (inserted === undefined) {
    throw new AccountError('too_many_days', `an account can have at most ${maxDaysAhead} days ahead; add fewer days`);
  }
  const addedPeriod = toRecord(inserted);
  await recordStart(transaction, accountId, addedPeriod);
  return addedPeriod;
}

async function recordStart(transaction: EntityManager, accountId: string, { id, endsAt }: AddedPeriod): Promise<void> {
  const [adjacentPeriod] = await transaction.execute<unknown[]>(
    `select 1 from ${periodsInForceSql} p join plan_period new on new.id = ?
     where p.account_id = ? and p.id <> new.id and p.ends_at >= new.starts_at`,
    [id, accountId],
  );
  if (adjacentPeriod !== undefined) return;
  const payload = { accountId, endsAt: endsAt.toISOString() };
  await recordEvent(transaction, 'plan.started', payload, `plan.started:${id}`);
}

/** @throws AccountError `not_found`, `too_many_days` */
export async function grantDays(
  database: Transactions,
  accountId: string,
  grant: Pick<NewPeriod, 'days' | 'label' | 'note'>,
): Promise<AddedPeriod> {
  return database.fork().transactional((transaction) => addDays(transaction, accountId, { ...grant, reason: 'grant' }));
}

type LockedColumns = Row<typeof entities.Account, 'id' | 'email' | 'blocked_at' | 'deleted_at'>;

/** @throws AccountError `not_found` */
export async function lockAccount(transaction: EntityManager, accountId: string): Promise<RecordOf<LockedColumns>> {
  const [account] = await transaction.execute<LockedColumns[]>(
    `select id, email, ${epochs('blocked_at', 'deleted_at')} from account where id = ? for update`,
    [accountId],
  );
  if (account === undefined) throw new AccountError('not_found', `account ${accountId} not found`);
  return toRecord(account);
}

/*
 * The ledger is append-only. A correction appends an entry that replaces an earlier one; entries that no other entry replaces are in force.
 * A replacement keeps the order, days, label and limits of the entry that it replaces.
 */

const copiedColumns = 'account_id, days, label, order_id, limits';
const qualifiedColumns = copiedColumns.replaceAll(/\w+/g, 'p.$&');

/**
 * Ends an order's period now, by the database's clock, and moves all later periods earlier by the removed time, at full length. Time that
 * was already used is kept. Does nothing for an order without a period.
 *
 * @throws AccountError `not_found`
 */
export async function endOrderPeriod(transaction: EntityManager, accountId: string, orderId: string): Promise<void> {
  await lockAccount(transaction, accountId);
  await transaction.execute(
    `with found as materialized (
       select p.*, greatest(p.starts_at, least(p.ends_at, clock_timestamp())) as new_end
       from ${periodsInForceSql} p where p.account_id = ? and p.order_id = ?
     ), ended as (
       select *, ${toElapsedInterval('ends_at - new_end')} as removed from found
     ), replaced as (
       insert into plan_period (id, replaces, reason, starts_at, ends_at, ${copiedColumns})
       select gen_random_uuid(), id, 'refund', starts_at, new_end, ${copiedColumns} from ended
     )
     insert into plan_period (id, replaces, reason, starts_at, ends_at, ${copiedColumns})
     select gen_random_uuid(), p.id, 'shift', p.starts_at - removed, p.ends_at - removed, ${qualifiedColumns}
     from ended, ${periodsInForceSql} p
     where p.account_id = ended.account_id and p.starts_at >= ended.ends_at and removed > interval '0'`,
    [accountId, orderId],
  );
}

/**
 * Extends an account's active period (or its last one if none is active) and moves all later periods by the same time. If that period has
 * already ended, adds a new period for the same order that starts now, because the time in between was not paid for.
 *
 * @returns the id of the entry; null for an account that never had a period
 * @throws AccountError `not_found`
 */
export async function extendPeriod(
  transaction: EntityManager,
  accountId: string,
  seconds: number,
  note: string,
): Promise<string | null> {
  await lockAccount(transaction, accountId);
  const [entry] = await transaction.execute<
    Row<typeof entities.PlanPeriodSchema, 'id' | 'days' | 'starts_at' | 'ends_at' | 'replaces'>[]
  >(
    `with clock as materialized (select clock_timestamp() as now, make_interval(secs => ?) as added),
     found as materialized (
       select p.*, clock.now, clock.added, p.ends_at <= clock.now as has_ended from ${periodsInForceSql} p, clock where p.account_id = ?
       order by p.starts_at <= clock.now and p.ends_at > clock.now desc, p.ends_at desc limit 1
     ), moved as (
       insert into plan_period (id, replaces, reason, starts_at, ends_at, ${copiedColumns})
       select gen_random_uuid(), p.id, 'shift', p.starts_at + added, p.ends_at + added, ${qualifiedColumns}
       from found, ${periodsInForceSql} p where p.account_id = found.account_id and p.starts_at >= found.ends_at
     )
     insert into plan_period (id, replaces, reason, note, starts_at, ends_at, ${copiedColumns})
     select gen_random_uuid(), case when not has_ended then id end, 'outage', ?, case when has_ended then now else starts_at end,
       greatest(ends_at, now) + added, ${copiedColumns} from found
     returning id, days, replaces, ${epochs('starts_at', 'ends_at')}`,
    [seconds, accountId, note],
  );
  if (entry === undefined) return null;
  if (entry.replaces === null) await recordStart(transaction, accountId, toRecord(entry));
  return entry.id;
}

/**
 * Revokes all time that an order bought. The unused part of its period ends; the used part is taken from the end of the account's other
 * paid time, or as much of it as is left. Time credited to the order for an outage ends with it, but is not taken from other paid time.
 * Call this only once per order.
 *
 * @throws AccountError `not_found`
 */
export async function revokeOrderDays(
  transaction: EntityManager,
  accountId: string,
  orderId: string,
  note: string,
): Promise<void> {
  await endOrderPeriod(transaction, accountId, orderId);
  await revokeTime(
    transaction,
    accountId,
    `(select coalesce(least(sum(${toElapsedInterval('p.ends_at - p.starts_at')}), make_interval(hours => 24 * max(p.days))), interval '0')
      from ${periodsInForceSql} p where p.order_id = ?)`,
    orderId,
    note,
  );
}

/**
 * Takes back days of 24 hours from the end of the account's paid time, or as many as are left. Never takes back time that has passed.
 *
 * @returns how many seconds were taken back
 * @throws AccountError `not_found`
 */
export async function revokeDays(
  transaction: EntityManager,
  accountId: string,
  days: number,
  note: string,
): Promise<number> {
  await lockAccount(transaction, accountId);
  return revokeTime(transaction, accountId, 'make_interval(hours => 24 * ?)', days, note);
}

async function revokeTime(
  transaction: EntityManager,
  accountId: string,
  lengthSql: string,
  parameter: string | number,
  note: string,
): Promise<number> {
  const [revoked] = await transaction.execute<{ seconds: number }[]>(
    `with clock as materialized (select clock_timestamp() as now, ${lengthSql} as length),
     held as (
       select p.*, clock.length, ${toElapsedInterval('p.ends_at - greatest(p.starts_at, clock.now)')} as available
       from ${periodsInForceSql} p, clock where p.account_id = ? and p.ends_at > clock.now
     ), shares as (
       select *, least(available, length - (sum(available) over (order by starts_at desc) - available)) as share
       from held
     ), replaced as (
       insert into plan_period (id, replaces, reason, note, starts_at, ends_at, ${copiedColumns})
       select gen_random_uuid(), id, 'revoke', ?, starts_at, ends_at - share, ${copiedColumns}
       from shares where share > interval '0'
       returning replaces
     )
     select coalesce(sum(extract(epoch from share)), 0)::float8 as seconds
     from shares where id in (select replaces from replaced)`,
    [parameter, accountId, note],
  );
  return revoked?.seconds ?? 0;
}

function toElapsedInterval(difference: string): string {
  // The interval contains only seconds, because a day in an SQL interval is a calendar day, which can have 23 hours.
  return `make_interval(secs => extract(epoch from ${difference})::float8)`;
}
