import { randomUUIDv7 } from 'node:crypto';
import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import type { Database } from '../database/database.ts';
import { Account, PlanPeriod, type planPeriodReasons } from '../database/entities.ts';
import { AccountError } from './account-error.ts';
import { maxDaysAhead } from './plans.ts';

/** A new entry of the ledger of paid time. */
export interface NewPeriod {
  readonly days: number; // of 24 hours
  readonly reason: (typeof planPeriodReasons)[number];
  /** Name of the purchase, for people. */
  readonly label?: string | undefined;
  /** The reason, for the operator. */
  readonly note?: string | undefined;
}

/**
 * Adds paid days to an account: from the end of its last period, or from now when that has passed, by the database's clock.
 * Runs in the caller's transaction and locks the account's row until its end: two concurrent additions would otherwise start
 * at the same time, and days would be lost.
 *
 * @throws AccountError `not_found`, `too_many_days`
 */
export async function addDays(transaction: EntityManager, accountId: string, period: NewPeriod): Promise<PlanPeriod> {
  await lockAccount(transaction, accountId);
  const id = randomUUIDv7();
  // Not now(): that is when the transaction began, before it waited for the lock.
  const inserted = await transaction.execute<{ id: string }[]>(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, label, reason, note)
     select ?, ?, start, start + length, ?, ?, ?, ?
     from (select greatest(clock_timestamp(), (select max(ends_at) from plan_period where account_id = ?)) as start) s,
       make_interval(hours => 24 * ?) as length
     where start + length <= clock_timestamp() + make_interval(hours => 24 * ?)
     returning id`,
    [
      id,
      accountId,
      period.days,
      period.label ?? null,
      period.reason,
      period.note ?? null,
      accountId,
      period.days,
      maxDaysAhead,
    ],
  );
  if (inserted.length === 0) {
    throw new AccountError('too_many_days', `an account can have at most ${maxDaysAhead} days ahead; add fewer days`);
  }
  return transaction.findOneOrFail(PlanPeriod, id);
}

/** Grants days to an account. @throws AccountError `not_found`, `too_many_days` */
export async function grantDays(
  database: Pick<Database, 'fork'>,
  accountId: string,
  grant: Omit<NewPeriod, 'reason'>,
): Promise<PlanPeriod> {
  return database.fork().transactional((transaction) => addDays(transaction, accountId, { ...grant, reason: 'grant' }));
}

/** Locks the row of an account until the transaction ends. @throws AccountError `not_found` */
export async function lockAccount(transaction: EntityManager, accountId: string): Promise<Account> {
  const account = await transaction.findOne(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (account === null) throw new AccountError('not_found', `account ${accountId} not found`);
  return account;
}
