import type { Database } from '#core/platform/database/database.ts';
import { removeUsage } from '#core/gateway/records/fold-usage.ts';
import { lockAccount } from './ledger.ts';

/** Rows that are cleaned in one statement. */
const batchSize = 500;

/**
 * Removes what is personal of an account: name, e-mail address, picture, ways to sign in, sessions, the key, stored
 * responses, its usage by hour, and of its requests the content, addresses and user agents. Orders, payments, the ledger and
 * the number of its requests stay, under its id. Its key is refused within a second; time that is left is lost.
 *
 * May be run again: after a failure, and for records that have arrived since.
 *
 * @throws AccountError `not_found`
 */
export async function deleteAccount(database: Pick<Database, 'fork' | 'query'>, accountId: string): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    await transaction.execute(
      `update account set name = 'Deleted account', email = null, avatar_url = null, language = null,
         blocked_reason = null, deleted_at = coalesce(deleted_at, clock_timestamp()) where id = ?`,
      [accountId],
    );
    for (const table of ['identity', 'session', 'api_key', 'response_store'])
      await transaction.execute(`delete from ${table} where account_id = ?`, [accountId]);
  });
  await cleanRequests(database, accountId);
}

/**
 * Removes the content of a deleted account's requests, who has sent them, and its usage by hour. Records arrive later than their requests, so
 * this is repeated for some days.
 */
export async function cleanRequests(database: Pick<Database, 'fork' | 'query'>, accountId: string): Promise<void> {
  const cleanups = [
    `with batch as (
       select c.started_at, c.id, c.part from request_content c join request_log l using (started_at, id)
       where l.account_id = ? limit ${batchSize}
     )
     delete from request_content c using batch b
     where c.started_at = b.started_at and c.id = b.id and c.part = b.part returning 1`,
    `with batch as (
       select started_at, id from request_log
       where account_id = ? and (remote_address is not null or user_agent is not null) limit ${batchSize}
     )
     update request_log l set remote_address = null, user_agent = null from batch b
     where l.started_at = b.started_at and l.id = b.id returning 1`,
  ];
  for (const cleanup of cleanups) {
    let cleaned = batchSize;
    while (cleaned === batchSize) cleaned = (await database.query(cleanup, [accountId])).length;
  }
  await removeUsage(database, accountId);
}

/** Accounts that were deleted within these days. */
export async function recentlyDeleted(database: Pick<Database, 'query'>, days: number): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select id from account where deleted_at > clock_timestamp() - make_interval(days => ?)',
    [days],
  );
  return rows.map(({ id }) => id);
}
