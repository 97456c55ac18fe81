import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { formatTimestamp } from './filter.ts';

/** Number of requests without an account in one minute, from one address block, with one status. */
export interface UnauthenticatedCount {
  readonly minute: number; // start, epoch ms
  /** Result of `parseAddressBlock`; undefined without an address, and for blocks that are not counted separately. */
  readonly block: string | undefined;
  readonly status: number | undefined; // undefined if the client disconnected before the response
  readonly requests: number;
}

export interface UnauthenticatedBlock {
  readonly block: string | null;
  readonly requests: number;
  readonly lastMinute: number; // start of the last minute with such a request, epoch ms
  /** Counts by status, most frequent first. */
  readonly statuses: readonly { readonly status: number | null; readonly requests: number }[];
}

interface UnauthenticatedUsage {
  readonly requests: number;
  readonly blocks: readonly UnauthenticatedBlock[]; // with the most requests, in descending order
}

const minuteMs = 60_000;

export function startOfMinute(time: number): number {
  return time - (time % minuteMs);
}

const insertCounts = `
  INSERT INTO unauthenticated_minute (minute, address_block, status, requests)
  SELECT timestamptz 'epoch' + minute * interval '1 millisecond', block, status, sum(requests)
  FROM json_to_recordset(?::json) AS counted (minute bigint, block text, status smallint, requests integer)
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (minute, address_block, status) DO UPDATE SET requests = unauthenticated_minute.requests + EXCLUDED.requests`;

/** Adds counts to those of other instances, in one transaction ordered by key, because two instances could otherwise deadlock. */
export async function addUnauthenticated(database: Queries, counts: readonly UnauthenticatedCount[]): Promise<void> {
  await database.query(insertCounts, [JSON.stringify(counts)]);
}

const selectBlocks = `
  WITH counted AS (
    SELECT address_block, status, sum(requests) AS requests, max(minute) AS last_minute
    FROM unauthenticated_minute WHERE minute >= ? GROUP BY address_block, status
  )
  SELECT address_block AS block, sum(requests)::float8 AS requests, ${epoch('max(last_minute)')} AS "lastMinute",
    json_agg(json_build_object('status', status, 'requests', requests) ORDER BY requests DESC, status) AS statuses,
    (sum(sum(requests)) OVER ())::float8 AS total
  FROM counted GROUP BY address_block ORDER BY requests DESC, block LIMIT ?`;

/**
 * Reads the counts since the start of a minute.
 *
 * @param since epoch ms; the complete minute that contains it is counted
 * @param limit maximum number of blocks; `requests` is the sum over all blocks
 */
export async function readUnauthenticated(
  database: Queries,
  since: number,
  limit: number,
): Promise<UnauthenticatedUsage> {
  const rows = await database.query<UnauthenticatedBlock & { readonly total: number }>(selectBlocks, [
    formatTimestamp(startOfMinute(since)),
    limit,
  ]);
  return { requests: rows[0]?.total ?? 0, blocks: rows.map(({ total: _total, ...block }) => block) };
}

/** @param time epoch ms */
export async function removeUnauthenticated(database: Queries, time: number): Promise<void> {
  await database.query('DELETE FROM unauthenticated_minute WHERE minute < ?', [formatTimestamp(time)]);
}

export function unauthenticatedToJson({ requests, blocks }: UnauthenticatedUsage) {
  return {
    requests,
    blocks: blocks.map(({ block, lastMinute, ...counts }) => ({
      addressBlock: block,
      ...counts,
      lastMinute: new Date(lastMinute),
    })),
  };
}
