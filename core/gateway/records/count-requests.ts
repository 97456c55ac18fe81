import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { buildConditions, type RequestFilter } from './filter.ts';
import { countUsage, startOfHour, type UsageCounts, hourMs } from './usage.ts';

/** Number of requests that match a filter. */
export interface RequestCount {
  readonly count: number;
  /** True if more requests match than were counted. */
  readonly isCapped: boolean;
}

const zeroCount: RequestCount = { count: 0, isCapped: false };

/**
 * Counts the recorded requests that match a filter. The count is exact for a filter by account, model, route and times with at most one of
 * errors, failover, cached and an outcome, because hourly usage contains it. Otherwise counting stops at the limit.
 */
export async function countRequests(
  database: Queries,
  filter: RequestFilter,
  { limit = 2_000 }: { readonly limit?: number } = {},
): Promise<RequestCount> {
  const counter = findCounter(filter);
  if (counter === undefined) return countUpTo(database, filter, limit);
  const oldest = await findOldestRecord(database);
  if (oldest === undefined) return zeroCount;
  const since = Math.max(oldest, filter.since ?? oldest);
  const { until } = filter;
  const firstHour = startOfHour(since + hourMs - 1);
  const lastHour = until === undefined ? undefined : startOfHour(until);
  // Usage is hourly, so the partial hours at both ends are counted from the records.
  if (lastHour !== undefined && lastHour <= firstHour) return countUpTo(database, { ...filter, since }, Infinity);
  const hasLastPart = lastHour !== undefined && lastHour < (until ?? lastHour);
  const [usage, ...partialCounts] = await Promise.all([
    countUsage(database, { ...filter, since: firstHour, until: lastHour }, []),
    since < firstHour ? countUpTo(database, { ...filter, since, until: firstHour }, Infinity) : zeroCount,
    hasLastPart ? countUpTo(database, { ...filter, since: lastHour }, Infinity) : zeroCount,
  ]);
  return {
    count: (usage[0]?.[counter] ?? 0) + partialCounts.reduce((sum, { count }) => sum + count, 0),
    isCapped: false,
  };
}

type RequestCounter = Exclude<keyof UsageCounts, 'failed' | 'inputTokens' | 'outputTokens'>;

export function findCounter(filter: RequestFilter): RequestCounter | undefined {
  const { outcome, status, isMetered, errors, hasFailover, isCached } = filter;
  if (status !== undefined || isMetered !== undefined || hasFailover === false || isCached === false) return undefined;
  // Usage counts both outcomes together.
  if (outcome === 'failed' || outcome === 'interrupted') return undefined;
  const counters: RequestCounter[] = [
    ...(outcome === undefined ? [] : [outcome]),
    ...(errors === true ? (['errors'] as const) : []),
    ...(hasFailover === true ? (['failovers'] as const) : []),
    ...(isCached === true ? (['cached'] as const) : []),
  ];
  return counters.length > 1 ? undefined : (counters[0] ?? 'requests');
}

async function countUpTo(database: Queries, filter: RequestFilter, limit: number): Promise<RequestCount> {
  const { sql, parameters } = buildConditions(filter);
  const limitClause = limit === Infinity ? '' : `LIMIT ${limit + 1}`;
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM (SELECT FROM request_log WHERE ${sql} ${limitClause}) AS matching`,
    parameters,
  );
  const count = row?.count ?? 0;
  return { count: Math.min(count, limit), isCapped: count > limit };
}

/**
 * Finds the start of the oldest partition of records, in epoch ms; usage may go back further. `min(started_at)` would be planned over all
 * partitions.
 */
export async function findOldestRecord(database: Queries): Promise<number | undefined> {
  const [row] = await database.query<{ oldest: number | null }>(
    String.raw`SELECT ${epoch(String.raw`min((regexp_match(bound, 'FROM \(''([^'']+)'))[1]::timestamptz)`)} AS oldest
     FROM (
       SELECT pg_get_expr(relpartbound, oid) AS bound FROM pg_class
       WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'request_log'::regclass)
     ) AS partitions`,
  );
  return row?.oldest ?? undefined;
}
