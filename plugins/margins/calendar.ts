import { formatTimestamp } from '#core/gateway/records/filter.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import type { Timespan } from './exact-money.ts';

/** The part of a day that lies in a span (epoch ms), with the day's whole month. */
export interface CalendarDay extends Timespan {
  readonly day: string; // 2026-11-22
  readonly month: Timespan;
}

const localEpoch = (time: string) => epoch(`((${time}) at time zone zone)`);

/** Lists the oldest day first. Together, the days cover the span without gaps. */
export async function readDays(database: Queries, timeZone: string, { from, until }: Timespan): Promise<CalendarDay[]> {
  const rows = await database.query<DayRow>(
    `select to_char(day, 'YYYY-MM-DD') as day, ${localEpoch('day')} as from, ${localEpoch(`day + interval '1 day'`)} as until,
       ${localEpoch(`date_trunc('month', day)`)} as month_from, ${localEpoch(`date_trunc('month', day) + interval '1 month'`)} as month_until
     from (select ?::text as zone) z, generate_series(
       (?::timestamptz at time zone zone)::date, (?::timestamptz at time zone zone)::date, interval '1 day') as days (day_at),
       lateral (select day_at::timestamp as day) d
     order by 2`,
    [timeZone, formatTimestamp(from), formatTimestamp(until - 1)],
  );
  return rows.map(({ day, month_from, month_until, ...dayRange }) => ({
    day,
    from: Math.max(dayRange.from, from),
    until: Math.min(dayRange.until, until),
    month: { from: month_from, until: month_until },
  }));
}

type DayRow = Pick<CalendarDay, 'day' | 'from' | 'until'> & Readonly<Record<'month_from' | 'month_until', number>>;
