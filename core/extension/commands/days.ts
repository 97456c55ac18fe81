import { InvalidArgumentError } from 'commander';
import type { Database } from '#core/platform/database/database.ts';
import { isTimeZone } from '#core/platform/timing/time-zone.ts';
import { epoch } from '#core/platform/database/rows.ts';

/** A day of the calendar, `2026-11-22`. */
export function parseDay(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError('It must be a day, for example 2026-11-22.');
}

export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

export function parseTimeZone(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError('It must be the name of a time zone, for example Asia/Jakarta.');
}

/** Times between the beginning of the first day and the end of the last one. */
export interface TimeRange {
  readonly since: Date | undefined;
  readonly until: Date | undefined; // exclusive
}

/** The range of some days in a time zone, by the rules of the database. */
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

/** A time in a zone as spreadsheets read it: `2026-11-22` and `13:05:00`. */
export function localTime(time: Date, timeZone: string): { readonly day: string; readonly clock: string } {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const [day = '', clock = ''] = format.format(time).split(' ');
  return { day, clock };
}
