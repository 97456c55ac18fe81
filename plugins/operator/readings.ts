import { countPasses } from '#core/business/accounts/pass-counts.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import { readMinuteTraffic } from '#core/business/model-health/minute-traffic.ts';
import { type CheckCounts, countChecks } from '#core/business/payments/payment-figures.ts';
import { readRevenue } from '#core/business/payments/revenue.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { cacheReading, type Host } from '#core/gateway/host/host.ts';
import { type DailyUsage, readDailyUsage } from '#core/gateway/records/daily-usage.ts';
import { listHeaviestAccounts } from '#core/gateway/records/heaviest-accounts.ts';
import { readKeyUse } from '#core/gateway/records/key-use.ts';
import { countUsage, startOfHours } from '#core/gateway/records/usage.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { readRouteTraffic } from './route-traffic.ts';
import { type Span, spans } from './span.ts';

/** How long readings stay fresh. All operators share them, and a stale reading is shown during a refresh. */
const cacheMs = { traffic: 5_000, passes: 30_000, heaviest: 60_000, pastDays: 600_000 };
const timeoutMs = 5_000;

const readDays = 2 * Math.max(...Object.values(spans));
const recentDays = 2; // includes yesterday, so that the data is still complete just after midnight
const passDays = Math.max(...Object.values(spans)) + 1; // the longest span and the day before it
export const chartHours = 24;
const rateMinutes = 5;

const cache = <T>(maxAgeMs: number, read: (host: Host) => Promise<T>) =>
  cacheReading({ maxAgeMs, staleWhileReadMs: maxAgeMs, timeoutMs }, read);

const zoneOf = ({ section }: Host) => section(service).time_zone;

const pastDays = cache(cacheMs.pastDays, (host) =>
  readDailyUsage(host.database.records, { timeZone: zoneOf(host), days: readDays }),
);

/** Flags are not cached, because they must disappear as soon as they are resolved. */
export const overviewReadings = {
  revenue: cache(cacheMs.traffic, (host) =>
    readRevenue(host.database, { currency: host.section(currencySection), timeZone: zoneOf(host), days: readDays }),
  ),
  passes: cache(cacheMs.passes, ({ database }) => countPasses(database, passDays)),
  days: cache(cacheMs.traffic, async (host) =>
    joinDays(
      await readDailyUsage(host.database.records, { timeZone: zoneOf(host), days: recentDays }),
      await pastDays(host).get(),
    ),
  ),
  hours: cache(cacheMs.traffic, ({ database, now }) =>
    countUsage(database.records, { since: startOfHours(now(), chartHours) }, ['hour']),
  ),
  traffic: cache(cacheMs.traffic, ({ database, now }) => readMinuteTraffic(database, now(), rateMinutes)),
  routes: cache(cacheMs.traffic, ({ database, now }) => readRouteTraffic(database, now())),
  checks: cache<CheckCounts>(cacheMs.traffic, ({ database }) => countChecks(database)),
};

const dayMs = 86_400_000;
const maxAccounts = 10;

const cacheLoads = (span: Span) =>
  cache(cacheMs.heaviest, async (host) => {
    const timeZone = zoneOf(host);
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(host.now());
    const firstDay = new Date(Date.parse(today) - (spans[span] - 1) * dayMs).toISOString().slice(0, 10);
    const { since } = await dayRangeToTimes(host.database, timeZone, firstDay, today);
    const start = since?.getTime() ?? host.now();
    const loads = await listHeaviestAccounts(host.database.records, { since: start, limit: maxAccounts });
    const ids = new Set(Object.values(loads).flatMap((accounts) => accounts.map(({ accountId }) => accountId)));
    return { loads, since: start, keyUse: await readKeyUse(host.database.records, [...ids], host.now() - dayMs) };
  });

/** The lists are cached, because reading a month sums up the requests of all accounts. */
export const loadReadings = { today: cacheLoads('today'), '7d': cacheLoads('7d'), '30d': cacheLoads('30d') };

/** If a day is in both, `recent` wins. */
export function joinDays(recent: readonly DailyUsage[], past: readonly DailyUsage[]): DailyUsage[] {
  const first = recent[0]?.day ?? '';
  return [...past.filter(({ day }) => day < first), ...recent].slice(-readDays);
}
