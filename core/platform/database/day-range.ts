import type { Queries } from './database.ts';
import { epoch } from './rows.ts';

interface TimeRange {
  readonly since: Date | undefined;
  readonly until: Date | undefined; // exclusive
}

/** Converts inclusive days (`YYYY-MM-DD`) in a time zone to a time range. PostgreSQL computes it, because it knows the time zone. */
export async function dayRangeToTimes(
  database: Queries,
  timeZone: string,
  firstDay: string | undefined,
  lastDay: string | undefined,
): Promise<TimeRange> {
  const [row] = await database.query<{ since: number | null; until: number | null }>(
    `select ${epoch('?::date::timestamp at time zone ?')} as since,
       ${epoch('(?::date + 1)::timestamp at time zone ?')} as until`,
    [firstDay ?? null, timeZone, lastDay ?? null, timeZone],
  );
  return { since: toDate(row?.since), until: toDate(row?.until) };
}

function toDate(time: number | null | undefined): Date | undefined {
  return time === null || time === undefined ? undefined : new Date(time);
}
