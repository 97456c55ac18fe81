import type { Queries } from '#core/platform/database/database.ts';
import { formatTimestamp } from './filter.ts';

/** Where an account's requests come from, which indicates whether several people share its key. */
export interface KeyUse {
  readonly addresses: number; // distinct client addresses
  readonly clients: number; // distinct User-Agents, including versions
  readonly programs: readonly string[]; // names, such as `claude-cli`; at most five, most used first
  readonly atOnce: number; // maximum number of concurrent requests
  readonly requests: number; // number examined
}

const maxCallsPerAccount = 500; // so that the busiest account costs no more than others
const maxPrograms = 5;

/**
 * Reads how the keys of some accounts are used, from the latest 500 model calls of each account. Accounts without calls are missing.
 *
 * @param since epoch ms
 */
export async function readKeyUse(
  database: Queries,
  accountIds: readonly string[],
  since: number,
): Promise<ReadonlyMap<string, KeyUse>> {
  if (accountIds.length === 0) return new Map();
  const rows = await database.query<Omit<KeyUse, 'atOnce'> & { id: string; at_once: number }>(
    `WITH recent AS MATERIALIZED (
       SELECT account.id, call.* FROM unnest(?::uuid[]) AS account (id), LATERAL (
         SELECT remote_address, user_agent, started_at, coalesce(duration_ms, 0) * interval '1 ms' AS took
         FROM request_log WHERE account_id = account.id AND started_at >= ? AND is_metered
         ORDER BY started_at DESC LIMIT ${maxCallsPerAccount}
       ) AS call
     ), edges AS (
       SELECT id, started_at AS at, 1 AS step FROM recent UNION ALL SELECT id, started_at + took, -1 FROM recent
     ), running AS (
       -- At the same moment, a call that ends is counted before a call that starts.
       SELECT id, sum(step) OVER (PARTITION BY id ORDER BY at, step ROWS UNBOUNDED PRECEDING) AS count FROM edges
     ), programs AS (
       SELECT id, array_agg(program ORDER BY uses DESC, program) AS names FROM (
         SELECT id, split_part(split_part(user_agent, ' ', 1), '/', 1) AS program, count(*) AS uses
         FROM recent WHERE user_agent <> '' GROUP BY 1, 2
       ) AS used GROUP BY id
     )
     SELECT recent.id::text, count(*)::float8 AS requests, count(DISTINCT remote_address)::float8 AS addresses,
       count(DISTINCT user_agent)::float8 AS clients,
       coalesce((SELECT names[1:${maxPrograms}] FROM programs WHERE programs.id = recent.id), '{}') AS programs,
       (SELECT max(count) FROM running WHERE running.id = recent.id)::float8 AS at_once
     FROM recent GROUP BY recent.id`,
    [`{${accountIds.join(',')}}`, formatTimestamp(since)],
  );
  return new Map(rows.map(({ id, at_once: atOnce, ...use }) => [id, { ...use, atOnce }]));
}
