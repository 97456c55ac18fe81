import type { Database } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { timestamp } from './filter.ts';

/** Requests without an account in one minute, from one address block, that ended with one status. */
export interface UnauthenticatedCount {
  readonly minute: number; // its start, epoch ms
  /** Format of `addressBlockOf`; undefined without an address, and for all blocks that are not counted separately. */
  readonly block: string | undefined;
  /** Undefined if the client disconnected before. */
  readonly status: number | undefined;
  readonly requests: number;
}

/** Requests without an account from one address block. */
export interface UnauthenticatedBlock {
  readonly block: string | null;
  readonly requests: number;
  /** Start of the last minute with such a request, epoch ms. */
  readonly lastMinute: number;
  /** Most frequent first. */
  readonly statuses: readonly { readonly status: number | null; readonly requests: number }[];
}

/** Requests without an account since a time. */
interface UnauthenticatedUsage {
  readonly requests: number;
  /** Blocks with the most requests, in descending order. */
  readonly blocks: readonly UnauthenticatedBlock[];
}

const minuteLength = 60_000; // ms

/** Returns the start of the minute of a time, epoch ms. */
export function startOfMinute(time: number): number {
  return time - (time % minuteLength);
}

const addition = `
  INSERT INTO unauthenticated_minute (minute, address_block, status, requests)
  SELECT timestamptz 'epoch' + minute * interval '1 millisecond', block, status, sum(requests)
  FROM json_to_recordset(?::json) AS counted (minute bigint, block text, status smallint, requests integer)
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (minute, address_block, status) DO UPDATE SET requests = unauthenticated_minute.requests + EXCLUDED.requests`;

/**
 * Adds counts to those of other instances, in one transaction, and in the order of their keys, because two instances could deadlock
 * otherwise.
 */
export async function addUnauthenticated(
  database: Pick<Database, 'query'>,
  counts: readonly UnauthenticatedCount[],
): Promise<void> {
  await database.query(addition, [JSON.stringify(counts)]);
}

const reading = `
  WITH counted AS (
    SELECT address_block, status, sum(requests) AS requests, max(minute) AS last_minute
    FROM unauthenticated_minute WHERE minute >= ? GROUP BY address_block, status
  )
  SELECT address_block AS block, sum(requests)::float8 AS requests, ${epoch('max(last_minute)')} AS "lastMinute",
    json_agg(json_build_object('status', status, 'requests', requests) ORDER BY requests DESC, status) AS statuses,
    (sum(sum(requests)) OVER ())::float8 AS total
  FROM counted GROUP BY address_block ORDER BY requests DESC, block LIMIT ?`;

/**
 * Reads the counts since a time, by whole minutes.
 *
 * @param since epoch ms
 * @param limit blocks; the sum is over all of them
 */
export async function readUnauthenticated(
  database: Pick<Database, 'query'>,
  since: number,
  limit: number,
): Promise<UnauthenticatedUsage> {
  const rows = await database.query<UnauthenticatedBlock & { readonly total: number }>(reading, [
    timestamp(startOfMinute(since)),
    limit,
  ]);
  return { requests: rows[0]?.total ?? 0, blocks: rows.map(({ total: _total, ...block }) => block) };
}

/**
 * Removes the counts before a time.
 *
 * @param time epoch ms
 */
export async function removeUnauthenticated(database: Pick<Database, 'query'>, time: number): Promise<void> {
  await database.query('DELETE FROM unauthenticated_minute WHERE minute < ?', [timestamp(time)]);
}

/** Writes the requests of no account as commands and the API write them. */
export function writeUnauthenticated({ requests, blocks }: UnauthenticatedUsage) {
  return {
    requests,
    blocks: blocks.map(({ block, lastMinute, ...counts }) => ({
      addressBlock: block,
      ...counts,
      lastMinute: new Date(lastMinute),
    })),
  };
}
