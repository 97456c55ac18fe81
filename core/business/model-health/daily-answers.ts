import type { Database } from '#core/platform/database/database.ts';
import { timestamp } from '#core/gateway/records/filter.ts';

/** Results of one day's requests to one model, without rejections and disconnected clients. */
export interface DailyAnswers {
  readonly day: string; // `2026-11-22`, in the requested time zone
  readonly answered: number;
  /** Failed, or interrupted by the end of the gateway's process. */
  readonly failed: number;
}

const day = 86_400_000; // ms

/**
 * The last days of all models with traffic, by public name; days without traffic are missing. Reads the counts over all accounts, without
 * histograms: 90 days of ten models are about 40,000 rows.
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
      ([model, modelDays]) =>
        [model, modelDays.map(({ day: date, answered, failed }) => ({ day: date, answered, failed }))] as const,
    ),
  );
}
