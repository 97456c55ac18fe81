import { service } from '#core/config/sections/core-sections.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { lockPlaces } from './places.ts';
import { countPlaces, type PlaceCount } from './sales-figures.ts';
import { reservePlaces } from './waiting-list.ts';

const intervalSeconds = 15;
const retentionDays = 400;

/** A single transaction, so that a crash leaves all or nothing done. */
const reserveJob: JobDefinition = {
  name: 'reserve-places',
  description: "Reserves free places for the waiting list, and records the day's places.",
  schedule: { every: intervalSeconds },
  attempts: 1,
  async run(_data, host) {
    await reserveFreePlaces(host);
    await recordDay(host, await countPlaces(host));
  },
};

export async function reserveFreePlaces(host: Pick<Host, 'database' | 'section'>): Promise<void> {
  const [openEntry] = await host.database.query<unknown>('select 1 from waiting_entry where ended_at is null limit 1');
  if (openEntry === undefined) return;
  await host.database.fork().transactional(async (transaction) => {
    await lockPlaces(transaction);
    await reservePlaces(host, transaction);
  });
}

export async function recordDay(
  { database, section }: Pick<Host, 'database' | 'section'>,
  counts: readonly PlaceCount[],
): Promise<void> {
  for (const { days, max, held, byKind, waiting } of counts)
    await database.query(
      `insert into sales_day (day, plan_days, max_active, held, late, waiting)
       values ((statement_timestamp() at time zone ?)::date, ?, ?, ?, ?, ?)
       on conflict (day, plan_days, max_active) do update set held = greatest(sales_day.held, excluded.held),
         late = greatest(sales_day.late, excluded.late), waiting = greatest(sales_day.waiting, excluded.waiting)
       where excluded.held > sales_day.held or excluded.late > sales_day.late or excluded.waiting > sales_day.waiting`,
      [section(service).time_zone, days ?? 0, max, held, byKind.late, waiting],
    );
}

const retentionJob: JobDefinition = {
  name: 'remove-old-sales-days',
  description: `Deletes the daily counts of places after ${retentionDays} days.`,
  schedule: { pattern: '11 3 * * *' },
  async run(_data, { database }) {
    await database.query(`delete from sales_day where day < current_date - ${retentionDays}`);
  },
};

export const salesJobs = [reserveJob, retentionJob] as const;
