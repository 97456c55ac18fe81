import type { EntityManager } from '@mikro-orm/postgresql';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { epochs, type Row } from '#core/platform/database/rows.ts';
import { recordEvent } from './account-events.ts';
import type { PlanPeriodSchema } from './entities.ts';
import { lockAccount } from './ledger.ts';
import { periodsInForceSql } from './periods-in-force.ts';

const noticeSql = `interval '24 hours'`;
const maxDelaySql = `interval '7 days'`; // maximum delay before an event is recorded; shorter than the retention of events
const maxEndsPerSweep = 1_000;

interface DuePlanEnd {
  readonly accountId: string;
  readonly id: string; // job id; not `dedupe_key`, because BullMQ does not allow its colons
  readonly dueInSeconds: number; // by the database's clock; negative if overdue
}

/** SQL for the end in microseconds. It identifies the event: an extended plan has a new end and gets a new event. */
const endKeySql = (endsAt: string) => `(extract(epoch from ${endsAt}) * 1000000)::bigint::text`;

/** Finds accounts for which `plan.ended` or `plan.ending` becomes due within `seconds` and is not recorded yet, earliest end first. */
export async function findDuePlanEnds(database: Queries, seconds: number): Promise<DuePlanEnd[]> {
  const rows = await database.query<Row<typeof PlanPeriodSchema, 'account_id'> & { id: string; due_in: number }>(
    `with clock as materialized (select clock_timestamp() as now),
     last as (
       select p.account_id, p.ends_at from ${periodsInForceSql} p, clock
       where p.ends_at between clock.now - ${maxDelaySql} and clock.now + ${noticeSql} + make_interval(secs => ?)
         and not exists (select 1 from ${periodsInForceSql} l where l.account_id = p.account_id and l.ends_at > p.ends_at)
     ), due as (
       select account_id, ends_at, 'plan.ended' as name, ends_at as due_at from last
       union all
       select account_id, ends_at, 'plan.ending', ends_at - ${noticeSql} from last, clock where ends_at > clock.now
     )
     select due.account_id, due.name || '-' || due.account_id || '-' || ${endKeySql('due.ends_at')} as id,
      extract(epoch from due.due_at - clock.now)::float8 as due_in
     from due join account a on a.id = due.account_id, clock
     where due.due_at <= clock.now + make_interval(secs => ?)
       and a.deleted_at is null
       and not exists (
         select 1 from account_event e
         where e.dedupe_key = due.name || ':' || due.account_id || ':' || ${endKeySql('due.ends_at')}
       )
     order by due.due_at limit ${maxEndsPerSweep}`,
    [seconds, seconds],
  );
  return rows.map(({ account_id: accountId, id, due_in: dueInSeconds }) => ({ accountId, id, dueInSeconds }));
}

/**
 * Records `plan.ended` if an account's last period is over, or `plan.ending` if it ends within 24 hours, each once per end. Records nothing
 * if the plan has been extended in the meantime. Access depends only on the time, not on these events.
 *
 * @throws AccountError `not_found`
 */
export async function recordPlanEnd(database: Transactions, accountId: string): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    // Waits for a renewal that is being committed right now.
    await lockAccount(transaction, accountId);
    const end = await readLastEnd(transaction, accountId);
    if (end === undefined || (!end.is_over && !end.is_near)) return;
    const name = end.is_over ? 'plan.ended' : 'plan.ending';
    const payload = { accountId, endsAt: new Date(end.ends_at).toISOString() };
    await recordEvent(transaction, name, payload, `${name}:${accountId}:${end.key}`);
    // Makes every instance drop the account from its cache.
    if (end.is_over) await transaction.execute(`select pg_notify('account', ?)`, [accountId]);
  });
}

/** Source of a pass that was ended by a refund: the account's own order, or a gift from another account. */
export type RefundedPass = 'order' | 'gift';

/**
 * If a refund ended the account's last period, returns where that period came from; undefined if it ended by itself. A refund of all days
 * leaves a `revoke` entry with the note `refund KEY`, which ends the moment it is written.
 */
export async function readRefundedEnd(database: Queries, accountId: string): Promise<RefundedPass | undefined> {
  const [lastPeriod] = await database.query<{ is_refunded: boolean; is_gift: boolean }>(
    `select p.reason = 'refund' or (p.reason = 'revoke' and p.note like 'refund %' and p.ends_at <= p.created_at + interval '1 minute')
         as is_refunded, coalesce(o.account_id <> p.account_id, false) as is_gift
     from ${periodsInForceSql} p left join plan_order o on o.id = p.order_id
     where p.account_id = ? order by p.ends_at desc limit 1`,
    [accountId],
  );
  if (lastPeriod?.is_refunded !== true) return undefined;
  return lastPeriod.is_gift ? 'gift' : 'order';
}

interface PlanEnd extends Row<typeof PlanPeriodSchema, 'ends_at'> {
  readonly key: string;
  readonly is_over: boolean;
  readonly is_near: boolean;
}

async function readLastEnd(transaction: EntityManager, accountId: string): Promise<PlanEnd | undefined> {
  const [end] = await transaction.execute<PlanEnd[]>(
    `select ${epochs('ends_at')}, ${endKeySql('ends_at')} as key,
       ends_at <= clock_timestamp() as is_over, ends_at <= clock_timestamp() + ${noticeSql} as is_near
     from ${periodsInForceSql} p where account_id = ? order by p.ends_at desc limit 1`,
    [accountId],
  );
  return end;
}
