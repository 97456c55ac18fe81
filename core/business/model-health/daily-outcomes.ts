import { formatTimestamp } from '#core/gateway/records/filter.ts';
import type { Queries } from '#core/platform/database/database.ts';

/** Outcomes of one day's requests to one model. Rejected and aborted requests do not count. */
export interface DailyOutcomes {
  readonly day: string; // `2026-11-22`, in the requested time zone
  readonly answered: number;
  readonly failed: number; // includes those interrupted because the gateway's process ended
}

const dayMs = 86_400_000;

/**
 * Reads the outcomes of the last `days` × 24 hours, by public name of the model; the oldest calendar day is therefore partial. Days without
 * traffic are omitted. Reads only totals over all accounts, because 90 days of ten models would be about 40,000 rows.
 *
 * @param now epoch ms
 */
export async function readDailyOutcomes(
  database: Queries,
  { now, timeZone, days }: { readonly now: number; readonly timeZone: string; readonly days: number },
): Promise<ReadonlyMap<string, readonly DailyOutcomes[]>> {
  const since = formatTimestamp(now - days * dayMs);
  const columns = 'model, hour, answered, failed, interrupted';
  const rows = await database.query<DailyOutcomes & { model: string }>(
    `SELECT model, to_char(day, 'YYYY-MM-DD') AS day, sum(answered)::float8 AS answered, sum(failed)::float8 AS failed
     FROM (
       SELECT model, (hour AT TIME ZONE ?)::date AS day, answered, failed + interrupted AS failed
       FROM (
         SELECT ${columns} FROM usage_total WHERE hour >= ? UNION ALL SELECT ${columns} FROM usage_delta WHERE hour >= ?
       ) AS totals
       WHERE model IS NOT NULL
     ) AS by_day
     GROUP BY model, by_day.day ORDER BY model, by_day.day`,
    [timeZone, since, since],
  );
  const byModel = Map.groupBy(rows, ({ model }) => model);
  return new Map(
    [...byModel].map(
      ([model, modelDays]) =>
        [model, modelDays.map(({ day, answered, failed }) => ({ day, answered, failed }))] as const,
    ),
  );
}
