import { service } from '#core/config/sections/core-sections.ts';
import { type Host, memoizePerCatalog } from '#core/gateway/host/host.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { readDailyOutcomes } from './daily-outcomes.ts';
import { listIncidents, readCurrentIncidents } from './incident-store.ts';
import { readModelSpeed } from './model-speed.ts';
import { readRecentTraffic } from './recent-traffic.ts';

const maxAgesMs = { now: 2_000, days: 30_000, speed: 60_000 };
const staleForMs = 600_000; // long, so that no visitor waits while 90 days of usage are read
/** Number of days for which responses are counted and incidents are listed. */
export const historyDays = 90;
const maxIncidents = 200;
const deadlineMs = 2_000;
const maxWaitMs = 1_000; // maximum time that a page waits for one reading
const maxStaleAgeMs = 3_600_000; // while the database is down

/** Reads the time credited to customers, in ms, for each incident of the last `historyDays`. */
export type ReadCredits = (host: Host) => Promise<ReadonlyMap<string, number>>;

/** What the last checks of a model's routes found. */
export interface ModelCheckup {
  readonly at: number; // when the last check ran, epoch ms
  /** True if every route supports everything it declares. */
  readonly isPassed: boolean;
  /** True if the routes' responses appear to come from the same model as their baselines; undefined if no route was compared. */
  readonly isSameModel: boolean | undefined;
}

/** Reads checkups by public name of the model; empty if the operator does not publish them. */
export type ReadCheckups = (host: Host) => Promise<ReadonlyMap<string, ModelCheckup>>;

export const getHealthReadings = memoizePerCatalog(createReadings);

function createReadings(host: Host) {
  const { database, catalog } = host;
  const timeZone = host.section(service).time_zone;
  const now = () => host.now();
  const defaults = {
    maxAgeMs: maxAgesMs.now,
    timeoutMs: deadlineMs,
    maxWaitMs,
    now: () => host.monotonic(),
  };
  return {
    traffic: new FreshValue({ ...defaults, read: () => readRecentTraffic(database, catalog, now()) }),
    speed: new FreshValue({
      ...defaults,
      maxAgeMs: maxAgesMs.speed,
      staleWhileReadMs: staleForMs,
      read: () => readModelSpeed(database, now()),
    }),
    days: new FreshValue({
      ...defaults,
      maxAgeMs: maxAgesMs.days,
      staleWhileReadMs: staleForMs,
      staleIfErrorMs: maxStaleAgeMs,
      read: () => readDailyOutcomes(database, { now: now(), timeZone, days: historyDays }),
    }),
    incidents: new FreshValue({
      ...defaults,
      staleIfErrorMs: maxStaleAgeMs,
      read: () => listIncidents(database, { since: now() - historyDays * 86_400_000, limit: maxIncidents }),
    }),
    currentIncidents: new FreshValue({
      ...defaults,
      staleIfErrorMs: maxStaleAgeMs,
      read: async () => readCurrentIncidents(database.fork()),
    }),
  };
}
