import type { Database } from './database.ts';
import { epoch } from './rows.ts';

interface TimeRange {
  readonly since: Date | undefined;
  readonly until: Date | undefined; // exclusive
}

/** Time range of some days in a time zone, computed by the database. */
export async function rangeOfDays(
  database: Pick<Database, 'query'>,
  timeZone: string,
  first: string | undefined,
  last: string | undefined,
): Promise<TimeRange> {
  const [row] = await database.query<{ since: number | null; until: number | null }>(
    `select ${epoch('?::date::timestamp at time zone ?')} as since,
       ${epoch('(?::date + 1)::timestamp at time zone ?')} as until`,
    [first ?? null, timeZone, last ?? null, timeZone],
  );
  return { since: toDate(row?.since), until: toDate(row?.until) };
}

function toDate(time: number | null | undefined): Date | undefined {
  return time === null || time === undefined ? undefined : new Date(time);
}
