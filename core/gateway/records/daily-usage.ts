import type { Queries } from '#core/platform/database/database.ts';
import type { UsageCounts } from './usage.ts';

/** How a day's requests ended, over all accounts and endpoints. */
export interface DailyUsage extends Pick<UsageCounts, 'requests' | 'answered' | 'failed' | 'failovers'> {
  /** Date in the requested time zone, such as `2026-11-22`. An hour belongs to the day on which it starts. */
  readonly day: string;
}

/**
 * Reads the usage of the last days from hourly counts, oldest first, including today. Days without usage have zeros. 60 days of ten models
 * with two routes are about 29,000 rows.
 *
 * @param options.days number of days, at most 400
 */
export async function readDailyUsage(
  database: Queries,
  { timeZone, days }: { readonly timeZone: string; readonly days: number },
): Promise<DailyUsage[]> {
  const columns = 'hour, answered, refused, failed, interrupted, aborted, failovers';
  return database.query<DailyUsage>(
    `WITH span AS (SELECT (clock_timestamp() AT TIME ZONE ?)::date AS today),
       first AS (SELECT (today - ?::integer)::timestamp AT TIME ZONE ? AS at FROM span),
       counted AS (
         SELECT (hour AT TIME ZONE ?)::date AS day, answered + refused + failed + interrupted + aborted AS requests,
           answered, failed + interrupted AS failed, failovers
         FROM (SELECT ${columns} FROM usage_total UNION ALL SELECT ${columns} FROM usage_delta) AS parts
         WHERE hour >= (SELECT at FROM first)
       )
     SELECT to_char(d, 'YYYY-MM-DD') AS day, ${selectSums}
     FROM span, generate_series(today - ?::integer, today, interval '1 day') d LEFT JOIN counted c ON c.day = d::date
     GROUP BY d ORDER BY d`,
    [timeZone, days - 1, timeZone, timeZone, days - 1],
  );
}

const selectSums = ['requests', 'answered', 'failed', 'failovers']
  .map((name) => `coalesce(sum(c.${name}), 0)::float8 AS ${name}`)
  .join(', ');
