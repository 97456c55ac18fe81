import { type Host, perCatalog } from '#core/gateway/host/host.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { readDailyAnswers } from './daily-answers.ts';
import { listIncidents, readCurrentIncidents } from './incident-store.ts';
import { readModelSpeed } from './model-speed.ts';
import { readRecentTraffic } from './recent-traffic.ts';

/** Ms for which a reading is used, and the timeout of a new one. */
const ages = { now: 2_000, days: 30_000, speed: 60_000 };
/** Ms more for which the slow ones are used while they are read again: no visitor waits for 90 days of usage. */
const staleFor = 600_000;
/** Days of which the answers are counted, and whose incidents are listed. */
export const historyDays = 90;
const longestList = 200;
/** Ms that a reading may take, and that a page waits for it. */
const deadline = 2_000;
const patience = 1_000;
/** Ms for which incidents and history are shown as they were, while the database does not respond. */
const knownFor = 3_600_000;

/** The sources of model states. The catalog maps names to models. */
interface HealthReadings {
  readonly traffic: FreshValue<Awaited<ReturnType<typeof readRecentTraffic>>>;
  readonly speed: FreshValue<Awaited<ReturnType<typeof readModelSpeed>>>;
  readonly days: FreshValue<Awaited<ReturnType<typeof readDailyAnswers>>>;
  /** Incidents of the last 90 days, including current ones. */
  readonly incidents: FreshValue<Awaited<ReturnType<typeof listIncidents>>>;
  /** Those without an end, suspected ones included. */
  readonly current: FreshValue<Awaited<ReturnType<typeof readCurrentIncidents>>>;
}

/** Ms that customers got back, by incident of the last `historyDays`. */
export type ReadCredits = (host: Host) => Promise<ReadonlyMap<string, number>>;

export const healthReadings = perCatalog(createReadings);

function createReadings(host: Host): HealthReadings {
  const { database, catalog } = host;
  const timeZone = host.section(service).time_zone;
  const now = () => host.now();
  const current = { maxAge: ages.now, deadline, patience, now: () => host.monotonic() };
  return {
    traffic: new FreshValue({ ...current, read: () => readRecentTraffic(database, catalog, now()) }),
    speed: new FreshValue({ ...current, maxAge: ages.speed, staleFor, read: () => readModelSpeed(database, now()) }),
    days: new FreshValue({
      ...current,
      maxAge: ages.days,
      staleFor,
      knownFor,
      read: () => readDailyAnswers(database, { now: now(), timeZone, days: historyDays }),
    }),
    incidents: new FreshValue({
      ...current,
      knownFor,
      read: () => listIncidents(database, { since: now() - historyDays * 86_400_000, limit: longestList }),
    }),
    current: new FreshValue({ ...current, knownFor, read: async () => readCurrentIncidents(database.fork()) }),
  };
}
