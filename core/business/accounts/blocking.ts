import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Transactions } from '#core/platform/database/database.ts';
import { AccountError } from './account-error.ts';
import { recordEvent } from './account-events.ts';
import { lockAccount } from './ledger.ts';

/**
 * Blocks an account: every instance rejects its key within a second, its sessions end, and it cannot sign in. Responses that are already
 * streaming finish. Paid time keeps running. If the account is already blocked, it keeps the first reason. If its owner had paused it, the
 * pause resumes when it is unblocked.
 *
 * @param reason for operators; not shown to the owner
 * @throws AccountError `not_found`
 */
export async function blockAccount(database: Transactions, accountId: string, reason: string): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    const blockedRows = await transaction.execute<unknown[]>(
      `update account set blocked_at = clock_timestamp(), blocked_reason = ?, pause_before_block = paused_at, paused_at = null
       where id = ? and (blocked_at is null or paused_at is not null) returning id`,
      [reason, accountId],
    );
    if (blockedRows.length === 0) return;
    await transaction.execute('delete from session where account_id = ?', [accountId]);
    await recordEvent(transaction, 'account.blocked', { accountId }, `account.blocked:${randomUUIDv7()}`);
  });
}

/**
 * Pauses an account at its owner's request: its key is rejected and it gets no emails, but its sessions remain, its owner can sign in, and
 * nothing is deleted. Runs in the caller's transaction, which must have locked the account.
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

/** Ends a pause, but not an operator's block. Returns false if the account was not paused. */
export async function resumeAccount(transaction: EntityManager, accountId: string): Promise<boolean> {
  const resumedRows = await transaction.execute<unknown[]>(
    `update account set blocked_at = null, paused_at = null, blocked_reason = null
     where id = ? and paused_at is not null and deleted_at is null returning id`,
    [accountId],
  );
  return resumedRows.length > 0;
}

/** @throws AccountError `not_found`; `not_paused` */
export async function endPause(database: Transactions, accountId: string): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    if (!(await resumeAccount(transaction, accountId)))
      throw new AccountError('not_paused', 'The account is not paused by its owner.');
  });
}

const restoredPauseReason = "paused at the owner's request, before it was blocked";

/**
 * Lifts an operator's block. The key stays the same, and a pause that the owner requested resumes (docs/decisions/0065).
 *
 * @throws AccountError `not_found`; `paused` if the owner paused the account and no operator blocked it
 */
export async function unblockAccount(database: Transactions, accountId: string): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    const unblockedRows = await transaction.execute<unknown[]>(
      `update account set blocked_at = pause_before_block, paused_at = pause_before_block, pause_before_block = null,
         blocked_reason = case when pause_before_block is not null then ? end
       where id = ? and blocked_at is not null and paused_at is null and deleted_at is null returning id`,
      [restoredPauseReason, accountId],
    );
    if (unblockedRows.length > 0) return;
    const pausedRows = await transaction.execute<unknown[]>(
      'select 1 from account where id = ? and paused_at is not null and deleted_at is null',
      [accountId],
    );
    if (pausedRows.length === 0) return;
    throw new AccountError(
      'paused',
      'The account is paused by its owner. End the pause only if the owner asks for it.',
    );
  });
}
