import type { EntityManager } from '@mikro-orm/postgresql';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { outcomes } from './filter.ts';
import { maxClientNames, speedCounts, storedCounts } from './usage.ts';

const maxDeltasPerTransaction = 20_000; // folded in less than a second; a day without folding leaves many batches

const histogramColumns = 'first_content_buckets, first_content_counts';

const deleteBatchSql = (table: string) =>
  `moved AS (DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} LIMIT ${maxDeltasPerTransaction}) RETURNING *)`;

function addToHoursSql(table: string, key: string, counts: readonly string[] = storedCounts): string {
  const sums = counts.map((name) => `sum(${name}) AS ${name}`).join(', ');
  return `
  INSERT INTO ${table} (${key}, ${counts.join(', ')}, ${histogramColumns})
  SELECT ${key}, ${sums},
    array_agg(bucket ORDER BY bucket) FILTER (WHERE bucket IS NOT NULL),
    array_agg(requests ORDER BY bucket) FILTER (WHERE bucket IS NOT NULL)
  FROM (
    SELECT ${key}, first_content_bucket AS bucket, ${sums},
      sum(answered + refused + failed + aborted + interrupted)::integer AS requests
    FROM moved GROUP BY ${key}, first_content_bucket
  ) AS bucketed
  GROUP BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET
    ${counts.map((name) => `${name} = ${table}.${name} + EXCLUDED.${name}`).join(', ')},
    (${histogramColumns}) = (
      SELECT array_agg(bucket ORDER BY bucket), array_agg(requests ORDER BY bucket) FROM (
        SELECT bucket, sum(requests)::integer AS requests FROM (
          SELECT * FROM unnest(${table}.first_content_buckets, ${table}.first_content_counts)
          UNION ALL SELECT * FROM unnest(EXCLUDED.first_content_buckets, EXCLUDED.first_content_counts)
        ) AS buckets (bucket, requests) GROUP BY bucket
      ) AS merged
    )`;
}

const foldRequestsSql = `
  WITH ${deleteBatchSql('usage_delta')},
    by_account AS (${addToHoursSql('usage_account', 'account_id, hour')}),
    by_account_and_model AS (${addToHoursSql('usage_hour', 'account_id, hour, model, route')}),
    by_model AS (${addToHoursSql('usage_total', 'hour, model, route', [...storedCounts, ...speedCounts])})
  SELECT count(*)::integer AS deltas FROM moved`;

const foldAttemptsSql = `
  WITH ${deleteBatchSql('route_usage_delta')}, added AS (
    INSERT INTO route_usage_hour (hour, route, outcome, fault, attempts, last_at, last_error)
    SELECT hour, route, outcome, fault, sum(attempts), max(last_at), (array_agg(last_error ORDER BY last_at DESC))[1]
    FROM moved GROUP BY hour, route, outcome, fault
    ON CONFLICT (hour, route, outcome, fault) DO UPDATE SET
      attempts = route_usage_hour.attempts + EXCLUDED.attempts,
      last_at = greatest(route_usage_hour.last_at, EXCLUDED.last_at),
      last_error = CASE WHEN EXCLUDED.last_at >= route_usage_hour.last_at
        THEN EXCLUDED.last_error ELSE route_usage_hour.last_error END
  )
  SELECT count(*)::integer AS deltas FROM moved`;

/** Clients choose their names, so the number of names per hour is limited. The most used of the new names get the remaining places. */
const foldClientsSql = `
  WITH ${deleteBatchSql('usage_client_delta')}, named AS (
    SELECT moved.hour, moved.client, sum(${outcomes.map((name) => `moved.${name}`).join(' + ')}) AS requests,
      EXISTS (SELECT 1 FROM usage_client u WHERE u.hour = moved.hour AND u.client = moved.client) AS is_known
    FROM moved WHERE moved.client IS NOT NULL GROUP BY moved.hour, moved.client
  ), taken AS (
    SELECT hour, client, is_known OR row_number() OVER (PARTITION BY hour, is_known ORDER BY requests DESC, client)
      + (SELECT count(DISTINCT u.client) FROM usage_client u WHERE u.hour = named.hour) <= ${maxClientNames} AS is_taken
    FROM named
  ), added AS (
    INSERT INTO usage_client (hour, client, model, route, ${storedCounts.join(', ')})
    SELECT moved.hour, CASE WHEN is_taken IS FALSE THEN 'other' ELSE moved.client END, model, route,
      ${storedCounts.map((name) => `sum(${name})`).join(', ')}
    FROM moved LEFT JOIN taken ON taken.hour = moved.hour AND taken.client = moved.client
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (hour, client, model, route) DO UPDATE SET
      ${storedCounts.map((name) => `${name} = usage_client.${name} + EXCLUDED.${name}`).join(', ')}
  )
  SELECT count(*)::integer AS deltas FROM moved`;

const lockKey = `hashtext('usage fold')`;

/**
 * Adds usage deltas to the hours. Each transaction moves a batch, so that readers, who add up deltas and hours, see the same counts at any
 * moment. A failed transaction moves nothing. Does nothing while another process folds.
 */
export async function foldUsage(database: Transactions): Promise<void> {
  let hasMore = true;
  while (hasMore)
    hasMore = await database.fork().transactional(async (transaction) => {
      const [lock] = await transaction.execute<{ is_free: boolean }[]>(
        `SELECT pg_try_advisory_xact_lock(${lockKey}) AS is_free`,
      );
      return lock?.is_free === true && (await foldBatch(transaction));
    });
}

async function foldBatch(transaction: EntityManager): Promise<boolean> {
  let isFull = false;
  for (const statement of [foldRequestsSql, foldClientsSql, foldAttemptsSql]) {
    const [result] = await transaction.execute<{ deltas: number }[]>(statement);
    isFull ||= result?.deltas === maxDeltasPerTransaction;
  }
  return isFull;
}

/**
 * Removes the usage of an account, but not from the counts over all accounts. The caller repeats this for some days, because records can
 * arrive well after their requests.
 */
export async function removeUsage(database: Transactions, accountId: string): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    // The lock prevents other processes from folding. All deltas must first reach the counts over all accounts.
    await transaction.execute(`SELECT pg_advisory_xact_lock(${lockKey})`);
    while (await foldBatch(transaction));
    for (const table of ['usage_account', 'usage_hour'])
      await transaction.execute(`DELETE FROM ${table} WHERE account_id = ?`, [accountId]);
  });
}

const maxRemovedRows = 10_000; // per statement
const deleteOldRowsSql = (table: string) => `
  DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM ${table} WHERE hour < now() - make_interval(days => ?) LIMIT ${maxRemovedRows}
  )) RETURNING 1`;

export async function removeOldUsage(database: Queries, days: number): Promise<void> {
  for (const table of ['usage_account', 'usage_hour', 'usage_total', 'usage_client', 'route_usage_hour']) {
    let removedCount = maxRemovedRows;
    while (removedCount === maxRemovedRows)
      removedCount = (await database.query(deleteOldRowsSql(table), [days])).length;
  }
}
