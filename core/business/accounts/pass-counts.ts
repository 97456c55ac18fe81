import type { Queries } from '#core/platform/database/database.ts';
import { periodsInForceSql } from './periods-in-force.ts';

export interface PassCounts {
  readonly active: number; // accounts that have paid time now and are not blocked
  readonly ending: number; // active accounts whose last period ends within 24 hours
  /** Active accounts on each of the last days, at the current time of day, oldest first; the last entry is now. */
  readonly history: readonly number[];
}

/** @param days number of days in the history, including today */
export async function countPasses(database: Queries, days: number): Promise<PassCounts> {
  const [[current], history] = await Promise.all([
    database.query<{ active: number; ending: number }>(
      `select count(*)::float8 as active,
         (count(*) filter (where last_end < clock_timestamp() + interval '24 hours'))::float8 as ending
       from (
         select max(ends_at) as last_end from ${periodsInForceSql} p join account a on a.id = p.account_id
         where p.ends_at > clock_timestamp() and a.deleted_at is null and a.blocked_at is null
         group by p.account_id having min(p.starts_at) <= clock_timestamp()
       ) x`,
    ),
    database.query<{ active: number }>(
      `select count(distinct a.id)::float8 as active
       from (select clock_timestamp() - make_interval(days => ago) as at from generate_series(?::integer - 1, 0, -1) ago) t
         left join (${periodsInForceSql} p join account a on a.id = p.account_id)
           on p.starts_at <= t.at and p.ends_at > t.at and (a.deleted_at is null or a.deleted_at > t.at)
             and (a.blocked_at is null or a.blocked_at > t.at)
       group by t.at order by t.at`,
      [days],
    ),
  ]);
  const { active = 0, ending = 0 } = current ?? {};
  return { active, ending, history: history.map((day) => day.active) };
}
