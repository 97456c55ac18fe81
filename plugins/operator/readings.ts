import { countPasses } from '#core/business/accounts/pass-counts.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import { perCatalog, type Host } from '#core/gateway/host/host.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { readMinuteTraffic } from '#core/business/model-health/minute-traffic.ts';
import { readRevenue } from '#core/business/payments/revenue.ts';
import { countChecks } from '#core/business/payments/payment-figures.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { readRouteTraffic } from './route-traffic.ts';

/** Ms after which a reading is refreshed, so that many operators cost no more than one. The old one is shown meanwhile. */
const ages = { traffic: 5_000, passes: 30_000 };
const deadline = 5_000;

/** Days and minutes that the sparklines cover. */
export const sparkDays = 14;
export const trafficMinutes = 60;

/** The cached sources of the overview. Flags are not cached: they must disappear when they are resolved. */
export const overviewReadings = perCatalog((host: Host) => {
  const { database, jobs } = host;
  const now = () => host.now();
  const fresh = <T>(maxAge: number, read: () => Promise<T>) =>
    new FreshValue<T>({ maxAge, staleFor: maxAge, deadline, now: () => host.monotonic(), read });
  const timeZone = host.section(service).time_zone;
  const currency = host.section(currencySection);
  return {
    revenue: fresh(ages.traffic, () => readRevenue(database, { currency, timeZone, days: sparkDays })),
    passes: fresh(ages.passes, () => countPasses(database, sparkDays)),
    traffic: fresh(ages.traffic, () => readMinuteTraffic(database, now(), trafficMinutes)),
    routes: fresh(ages.traffic, () => readRouteTraffic(database, now())),
    queue: fresh(ages.traffic, () => jobs.state()),
    checks: fresh(ages.traffic, () => countChecks(database)),
  };
});
