import { formatTimestamp } from '#core/gateway/records/filter.ts';
import type { LatencyHistogram } from '#core/gateway/records/latency-histogram.ts';
import { readUsage, startOfHours } from '#core/gateway/records/usage.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { findSteps, type TrendCounts, type StepDown } from './trends.ts';

const hoursPerDay = 24;
const comparedDays = 7;

export interface RouteTrend {
  readonly route: string; // upstream/model
  readonly steps: readonly StepDown[];
}

export async function readTrends(database: Queries, now: number): Promise<RouteTrend[]> {
  const daySince = startOfHours(now, hoursPerDay);
  const weekSince = startOfHours(now, hoursPerDay * (1 + comparedDays));
  const [before, recent] = await Promise.all([
    readCounts(database, weekSince, daySince),
    readCounts(database, daySince, undefined),
  ]);
  return [...recent].flatMap(([route, recentCounts]) => {
    const earlierCounts = before.get(route);
    const steps = earlierCounts === undefined ? [] : findSteps(earlierCounts, recentCounts);
    return steps.length === 0 ? [] : [{ route, steps }];
  });
}

async function readCounts(
  database: Queries,
  since: number,
  until: number | undefined,
): Promise<ReadonlyMap<string, TrendCounts>> {
  const range = `hour >= ?${until === undefined ? '' : ' AND hour < ?'}`;
  const parameters = [since, until].flatMap((at) => (at === undefined ? [] : [formatTimestamp(at)]));
  const attemptColumns = 'route, fault, attempts';
  const speedColumns = 'route, streamed_tokens, streamed_ms';
  const unionParameters = [...parameters, ...parameters];
  const [tried, streamed, usage] = await Promise.all([
    database.query<{ route: string; attempts: number; throttled: number }>(
      `SELECT route, sum(attempts)::float8 AS attempts,
         coalesce(sum(attempts) FILTER (WHERE fault = 'throttled'), 0)::float8 AS throttled
       FROM (SELECT ${attemptColumns} FROM route_usage_hour WHERE ${range}
         UNION ALL SELECT ${attemptColumns} FROM route_usage_delta WHERE ${range}) AS parts GROUP BY route`,
      unionParameters,
    ),
    database.query<{ route: string; tokens: number; ms: number }>(
      `SELECT route, sum(streamed_tokens)::float8 AS tokens, sum(streamed_ms)::float8 AS ms
       FROM (SELECT ${speedColumns} FROM usage_total WHERE ${range}
         UNION ALL SELECT ${speedColumns} FROM usage_delta WHERE ${range}) AS parts WHERE route IS NOT NULL GROUP BY route`,
      unionParameters,
    ),
    readUsage(database, { since, until }, ['route']),
  ]);
  const speedsByRoute = new Map(streamed.map((row) => [row.route, row]));
  const latenciesByRoute = new Map(usage.map(({ route, firstContent }) => [route, firstContent]));
  return new Map(
    tried.map(({ route, ...counts }) => [
      route,
      {
        ...counts,
        firstContent: latenciesByRoute.get(route) ?? [],
        streamedTokens: speedsByRoute.get(route)?.tokens ?? 0,
        streamedMs: speedsByRoute.get(route)?.ms ?? 0,
      },
    ]),
  );
}

export interface TimedCounts extends TrendCounts {
  readonly at: number; // epoch ms of its start
}

interface Row {
  readonly at: number;
  readonly attempts: number;
  readonly throttled: number;
  readonly tokens: number;
  readonly ms: number;
  readonly latency: LatencyHistogram | null;
}

export async function readTimedCounts(
  database: Queries,
  route: string,
  { since, by, timeZone }: { readonly since: number; readonly by: 'hour' | 'day'; readonly timeZone: string },
): Promise<TimedCounts[]> {
  const timeExpression = by === 'hour' ? 'hour' : `date_trunc('day', hour, '${timeZone.replaceAll("'", '')}')`;
  const condition = 'hour >= ? AND route = ?';
  const rows = await database.query<Row>(
    `SELECT ${epoch('at')} AS at, coalesce(sum(attempts), 0)::float8 AS attempts, coalesce(sum(throttled), 0)::float8 AS throttled,
       coalesce(sum(tokens), 0)::float8 AS tokens, coalesce(sum(ms), 0)::float8 AS ms,
       json_agg(json_build_array(bucket, requests) ORDER BY bucket) FILTER (WHERE bucket IS NOT NULL) AS latency
     FROM (
       SELECT ${timeExpression} AS at, attempts, CASE WHEN fault = 'throttled' THEN attempts END AS throttled, NULL::bigint AS tokens,
         NULL::bigint AS ms, NULL::integer AS bucket, NULL::integer AS requests
       FROM (SELECT hour, route, fault, attempts FROM route_usage_hour UNION ALL
         SELECT hour, route, fault, attempts FROM route_usage_delta) AS tried WHERE ${condition}
       UNION ALL
       SELECT ${timeExpression}, NULL, NULL, streamed_tokens, streamed_ms, NULL, NULL
       FROM (SELECT hour, route, streamed_tokens, streamed_ms FROM usage_total UNION ALL
         SELECT hour, route, streamed_tokens, streamed_ms FROM usage_delta) AS streamed WHERE ${condition}
       UNION ALL
       SELECT at, NULL, NULL, NULL, NULL, bucket, sum(requests)::integer FROM (
         SELECT at, bucket, requests
         FROM (SELECT ${timeExpression} AS at, first_content_buckets, first_content_counts FROM usage_total WHERE ${condition} OFFSET 0) AS of_hour,
           unnest(first_content_buckets, first_content_counts) AS latency (bucket, requests)
         UNION ALL
         SELECT ${timeExpression}, first_content_bucket, answered
         FROM usage_delta WHERE ${condition} AND first_content_bucket IS NOT NULL
       ) AS timed GROUP BY at, bucket
     ) AS parts GROUP BY at ORDER BY at DESC`,
    Array.from({ length: 4 }, () => [formatTimestamp(since), route]).flat(),
  );
  return rows.map(({ tokens, ms, latency, ...counts }) => ({
    ...counts,
    streamedTokens: tokens,
    streamedMs: ms,
    firstContent: latency ?? [],
  }));
}
