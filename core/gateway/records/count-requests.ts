import type { Database } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { conditionsOf, type RequestFilter } from './filter.ts';
import { countUsage, startOfHour, type UsageCounts, usageHour } from './usage.ts';

type Queries = Pick<Database, 'query'>;

export interface RequestCount {
  readonly count: number;
  /** True if more match than were counted. */
  readonly isCapped: boolean;
}

/**
 * Counts the recorded requests that match a filter. The count is exact if hourly usage has it: for a filter of account, model, route and
 * times, and at most one of errors, failover, cached, or an outcome. Otherwise it stops at the limit.
 */
export async function countRequests(
  database: Queries,
  filter: RequestFilter,
  { limit = 2_000 }: { readonly limit?: number } = {},
): Promise<RequestCount> {
  const counter = counterOf(filter);
  if (counter === undefined) return countUpTo(database, filter, limit);
  const oldest = await oldestRecord(database);
  if (oldest === undefined) return { count: 0, isCapped: false };
  const since = Math.max(oldest, filter.since ?? oldest);
  const { until } = filter;
  const first = startOfHour(since + usageHour - 1);
  const last = until === undefined ? undefined : startOfHour(until);
  // Usage is hourly, so the partial hours at both ends are counted from the records.
  if (last !== undefined && last <= first) return countUpTo(database, { ...filter, since }, Infinity);
  const [usage, ...ends] = await Promise.all([
    countUsage(database, { ...filter, since: first, until: last }, []),
    since < first ? countUpTo(database, { ...filter, since, until: first }, Infinity) : none,
    last !== undefined && last < (until ?? last) ? countUpTo(database, { ...filter, since: last }, Infinity) : none,
  ]);
  return { count: (usage[0]?.[counter] ?? 0) + ends.reduce((sum, { count }) => sum + count, 0), isCapped: false };
}

const none: RequestCount = { count: 0, isCapped: false };

type RequestCounter = Exclude<keyof UsageCounts, 'failed' | 'inputTokens' | 'outputTokens'>;

/** Returns the usage counter that matches the filter; undefined if there is none. */
export function counterOf(filter: RequestFilter): RequestCounter | undefined {
  const { outcome, status, isMetered, errors, hasFailover, isCached } = filter;
  if (status !== undefined || isMetered !== undefined || hasFailover === false || isCached === false) return undefined;
  // Usage has no separate count for these.
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
  const { sql, parameters } = conditionsOf(filter);
  const bound = limit === Infinity ? '' : `LIMIT ${limit + 1}`;
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM (SELECT FROM request_log WHERE ${sql} ${bound}) AS matching`,
    parameters,
  );
  const count = row?.count ?? 0;
  return { count: Math.min(count, limit), isCapped: count > limit };
}

/** Start of the oldest partition, epoch ms, because usage outlives records. `min(started_at)` would be planned over all partitions. */
export async function oldestRecord(database: Queries): Promise<number | undefined> {
  const [row] = await database.query<{ oldest: number | null }>(
    String.raw`SELECT ${epoch(String.raw`min((regexp_match(bound, 'FROM \(''([^'']+)'))[1]::timestamptz)`)} AS oldest
     FROM (
       SELECT pg_get_expr(relpartbound, oid) AS bound FROM pg_class
       WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'request_log'::regclass)
     ) AS partitions`,
  );
  return row?.oldest ?? undefined;
}
