import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '#core/platform/database/database.ts';
import { recordEvent } from './account-events.ts';
import { lockAccount } from './ledger.ts';

/**
 * Blocks an account: its key is refused within a second on every instance, its sessions end, and it cannot sign in. Answers
 * that are being streamed finish. Its paid time runs on.
 *
 * @param reason for the operator; its owner does not see it
 * @returns false when it was blocked already; the first reason stays, but for that of a pause
 * @throws AccountError `not_found`
 */
export async function blockAccount(
  database: Pick<Database, 'fork'>,
  accountId: string,
  reason: string,
): Promise<boolean> {
  return database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    const blocked = await transaction.execute<unknown[]>(
      `update account set blocked_at = clock_timestamp(), blocked_reason = ?, paused_at = null
       where id = ? and (blocked_at is null or paused_at is not null) returning id`,
      [reason, accountId],
    );
    if (blocked.length === 0) return false;
    await transaction.execute('delete from session where account_id = ?', [accountId]);
    await recordEvent(transaction, 'account.blocked', { accountId }, `account.blocked:${randomUUIDv7()}`);
    return true;
  });
}

/**
 * Pauses an account as its owner wants: it is blocked, so that its key is refused and no mail is sent, but its sessions last, its owner can
 * sign in, and nothing is deleted. In the caller's transaction, which has locked the account.
 *
 * @returns false when it was blocked or paused already
 */
export async function pauseAccount(transaction: EntityManager, accountId: string, reason: string): Promise<boolean> {
  const paused = await transaction.execute<unknown[]>(
    `update account set blocked_at = clock_timestamp(), paused_at = clock_timestamp(), blocked_reason = ?
     where id = ? and blocked_at is null and deleted_at is null returning id`,
    [reason, accountId],
  );
  return paused.length > 0;
}

/** Ends the pause of an account; one that an operator has blocked stays so. @returns false when it was not paused */
export async function resumeAccount(transaction: EntityManager, accountId: string): Promise<boolean> {
  const resumed = await transaction.execute<unknown[]>(
    `update account set blocked_at = null, paused_at = null, blocked_reason = null
     where id = ? and paused_at is not null and deleted_at is null returning id`,
    [accountId],
  );
  return resumed.length > 0;
}

/** Serves a blocked account again, with the same key. @returns false when it was not blocked @throws AccountError `not_found` */
export async function unblockAccount(database: Pick<Database, 'fork'>, accountId: string): Promise<boolean> {
  return database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    const served = await transaction.execute<unknown[]>(
      `update account set blocked_at = null, blocked_reason = null, paused_at = null
       where id = ? and blocked_at is not null and deleted_at is null returning id`,
      [accountId],
    );
    return served.length > 0;
  });
}
