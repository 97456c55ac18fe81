import type { Database } from '#core/platform/database/database.ts';
import { timestamp } from '#core/gateway/records/filter.ts';

/** Results of one day's requests to one model, without rejections and disconnected clients. */
export interface DailyAnswers {
  readonly day: string; // `2026-11-22`, in the time zone that was asked for
  readonly answered: number;
  /** Failed, or interrupted by the end of the gateway's process. */
  readonly failed: number;
}

const day = 86_400_000; // ms

/**
 * The last days of all models with traffic, by public name; days without any are missing. Of the counts over all accounts, without
 * their histograms: 90 days of ten models are some 40,000 rows.
 *
 * @param now epoch ms
 */
export async function readDailyAnswers(
  database: Pick<Database, 'query'>,
  { now, timeZone, days }: { readonly now: number; readonly timeZone: string; readonly days: number },
): Promise<ReadonlyMap<string, readonly DailyAnswers[]>> {
  const since = timestamp(now - days * day);
  const columns = 'model, hour, answered, failed, interrupted';
  const rows = await database.query<DailyAnswers & { model: string }>(
    `SELECT model, to_char(day, 'YYYY-MM-DD') AS day, sum(answered)::float8 AS answered, sum(failed)::float8 AS failed
     FROM (
       SELECT model, (hour AT TIME ZONE ?)::date AS day, answered, failed + interrupted AS failed
       FROM (
         SELECT ${columns} FROM usage_total WHERE hour >= ? UNION ALL SELECT ${columns} FROM usage_delta WHERE hour >= ?
       ) AS counted
       WHERE model IS NOT NULL
     ) AS of_days
     GROUP BY model, of_days.day ORDER BY model, of_days.day`,
    [timeZone, since, since],
  );
  const byModel = Map.groupBy(rows, ({ model }) => model);
  return new Map(
    [...byModel].map(
      ([model, some]) =>
        [model, some.map(({ day: one, answered, failed }) => ({ day: one, answered, failed }))] as const,
    ),
  );
}
