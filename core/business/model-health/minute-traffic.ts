import { formatTimestamp } from '#core/gateway/records/filter.ts';
import type { UsageCounts } from '#core/gateway/records/usage.ts';
import type { Queries } from '#core/platform/database/database.ts';

/** Model calls that began within the same minute. */
export type MinuteTraffic = Pick<UsageCounts, 'requests' | 'answered' | 'failed' | 'failovers'>;

const minuteMs = 60_000;

/**
 * Reads the traffic of the last complete minutes, oldest first. Running requests have no record yet, so recent counts may still grow.
 *
 * @param now epoch ms
 */
export async function readMinuteTraffic(database: Queries, now: number, minutes: number): Promise<MinuteTraffic[]> {
  const end = Math.floor(now / minuteMs) * minuteMs;
  const start = end - minutes * minuteMs;
  const rows = await database.query<MinuteTraffic & { minute: number }>(
    `SELECT floor(extract(epoch FROM started_at) / 60)::float8 AS minute, count(*)::float8 AS requests,
       count(*) FILTER (WHERE outcome IN ('failed', 'interrupted'))::float8 AS failed,
       count(*) FILTER (WHERE outcome = 'answered')::float8 AS answered,
       count(*) FILTER (WHERE has_failover)::float8 AS failovers
     FROM request_log WHERE started_at >= ? AND started_at < ? AND is_metered GROUP BY 1`,
    [formatTimestamp(start), formatTimestamp(end)],
  );
  const byMinute = new Map(rows.map((row) => [row.minute, row]));
  return Array.from({ length: minutes }, (_, index) => {
    const { requests = 0, failed = 0, answered = 0, failovers = 0 } = byMinute.get(start / minuteMs + index) ?? {};
    return { requests, failed, answered, failovers };
  });
}
