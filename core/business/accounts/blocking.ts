import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Transactions } from '#core/platform/database/database.ts';
import { recordEvent } from './account-events.ts';
import { lockAccount } from './ledger.ts';

/**
 * Blocks an account: every instance rejects its key within a second, its sessions end, and it cannot sign in. Responses being streamed
 * finish. Paid time keeps running.
 *
 * @param reason for the operator; not shown to the owner
 * @returns false if it was already blocked, so that the first reason is kept; only the reason of a pause is replaced
 * @throws AccountError `not_found`
 */
export async function blockAccount(database: Transactions, accountId: string, reason: string): Promise<boolean> {
  return database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    const blockedRows = await transaction.execute<unknown[]>(
      `update account set blocked_at = clock_timestamp(), blocked_reason = ?, paused_at = null
       where id = ? and (blocked_at is null or paused_at is not null) returning id`,
      [reason, accountId],
    );
    if (blockedRows.length === 0) return false;
    await transaction.execute('delete from session where account_id = ?', [accountId]);
    await recordEvent(transaction, 'account.blocked', { accountId }, `account.blocked:${randomUUIDv7()}`);
    return true;
  });
}

/**
 * Pauses an account at its owner's request: its key is rejected and no email is sent, but its sessions remain, its owner can sign in, and
 * nothing is deleted. Runs in the caller's transaction, which has locked the account.
 *
 * @returns false if it was already blocked or paused
 */
export async function pauseAccount(transaction: EntityManager, accountId: string, reason: string): Promise<boolean> {
  const pausedRows = await transaction.execute<unknown[]>(
    `update account set blocked_at = clock_timestamp(), paused_at = clock_timestamp(), blocked_reason = ?
     where id = ? and blocked_at is null and deleted_at is null returning id`,
    [reason, accountId],
  );
  return pausedRows.length > 0;
}

/**
 * Ends the pause of an account, but not an operator's block.
 *
 * @returns false if it was not paused
 */
export async function resumeAccount(transaction: EntityManager, accountId: string): Promise<boolean> {
  const resumedRows = await transaction.execute<unknown[]>(
    `update account set blocked_at = null, paused_at = null, blocked_reason = null
     where id = ? and paused_at is not null and deleted_at is null returning id`,
    [accountId],
  );
  return resumedRows.length > 0;
}

/**
 * Unblocks an account, whose key stays the same. Also ends a pause that the owner requested.
 *
 * @returns false if it was not blocked
 * @throws AccountError `not_found`
 */
export async function unblockAccount(database: Transactions, accountId: string): Promise<boolean> {
  return database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    const unblockedRows = await transaction.execute<unknown[]>(
      `update account set blocked_at = null, blocked_reason = null, paused_at = null
       where id = ? and blocked_at is not null and deleted_at is null returning id`,
      [accountId],
    );
    return unblockedRows.length > 0;
  });
}
