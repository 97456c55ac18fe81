import { countPasses } from '#core/business/accounts/pass-counts.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import { perCatalog, type Host } from '#core/gateway/host/host.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { type DailyUsage, readDailyUsage } from '#core/gateway/records/daily-usage.ts';
import { listHeaviestAccounts, type LoadMeasure } from '#core/gateway/records/heaviest-accounts.ts';
import { readKeyUse } from '#core/gateway/records/key-use.ts';
import { countUsage, startOfHours } from '#core/gateway/records/usage.ts';
import { readMinuteTraffic } from '#core/business/model-health/minute-traffic.ts';
import { readRevenue } from '#core/business/payments/revenue.ts';
import { type CheckCounts, countChecks } from '#core/business/payments/payment-figures.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { type Span, spans } from './span.ts';
import { readRouteTraffic } from './route-traffic.ts';

/**
 * Ms after which a reading is refreshed, so that many operators cost no more than one. The old value is shown meanwhile. Past days no
 * longer change.
 */
const ages = { traffic: 5_000, passes: 30_000, heaviest: 60_000, pastDays: 600_000 };
const deadline = 5_000;

/** Days that are read: the longest span, and as many days before it. */
const days = 2 * Math.max(...Object.values(spans));
/** Most recent days, which are reread often; includes yesterday, so that the data stays complete after midnight. */
const recentDays = 2;
/** Days for which active passes are counted: one more than the longest span. */
const passDays = Math.max(...Object.values(spans)) + 1;
/** Hours in today's chart. */
export const chartHours = 24;
/** Minutes over which the request rate is averaged. */
const rateMinutes = 5;

/** Caches a value for `maxAge` ms, and serves it for as long again during a refresh. */
const freshOf =
  (host: Host) =>
  <T>(maxAge: number, read: () => Promise<T>) =>
    new FreshValue<T>({
      maxAgeMs: maxAge,
      staleWhileReadMs: maxAge,
      timeoutMs: deadline,
      now: () => host.monotonic(),
      read,
    });

/** Cached sources of the overview. Flags are not cached: they must disappear as soon as they are resolved. */
export const overviewReadings = perCatalog((host: Host) => {
  const { database } = host;
  const fresh = freshOf(host);
  const timeZone = host.section(service).time_zone;
  const currency = host.section(currencySection);
  const pastDays = fresh(ages.pastDays, () => readDailyUsage(database.records, { timeZone, days }));
  return {
    revenue: fresh(ages.traffic, () => readRevenue(database, { currency, timeZone, days })),
    passes: fresh(ages.passes, () => countPasses(database, passDays)),
    days: fresh(ages.traffic, async () =>
      joinDays(await readDailyUsage(database.records, { timeZone, days: recentDays }), await pastDays.get()),
    ),
    hours: fresh(ages.traffic, () =>
      countUsage(database.records, { since: startOfHours(host.now(), chartHours) }, ['hour']),
    ),
    traffic: fresh(ages.traffic, () => readMinuteTraffic(database, host.now(), rateMinutes)),
    routes: fresh(ages.traffic, () => readRouteTraffic(database, host.now())),
    checks: fresh<CheckCounts>(ages.traffic, () => countChecks(database)),
  };
});

/** Number of accounts listed by each measure. */
const heaviest = 10;

/**
 * The accounts with the highest load in a span, by each measure, and how their keys are used. Cached for a minute, since a month's sums
 * cover all accounts.
 */
export const loadReadings = perCatalog((host: Host) => {
  const timeZone = host.section(service).time_zone;
  const read = async (span: Span) => {
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(host.now());
    const firstDay = new Date(Date.parse(today) - (spans[span] - 1) * dayMs).toISOString().slice(0, 10);
    const { since } = await dayRangeToTimes(host.database, timeZone, firstDay, today);
    const first = since?.getTime() ?? host.now();
    const loads = await listHeaviestAccounts(host.database.records, { since: first, limit: heaviest });
    const ids = new Set((Object.values(loads) as Loads[]).flatMap((some) => some.map(({ accountId }) => accountId)));
    return { loads, first, use: await readKeyUse(host.database.records, [...ids], host.now() - dayMs) };
  };
  const fresh = (span: Span) => freshOf(host)(ages.heaviest, () => read(span));
  return { today: fresh('today'), '7d': fresh('7d'), '30d': fresh('30d') } satisfies Record<Span, unknown>;
});

type Loads = Awaited<ReturnType<typeof listHeaviestAccounts>>[LoadMeasure];
const dayMs = 86_400_000;

/** Joins past and recent days without duplicates. */
export function joinDays(recent: readonly DailyUsage[], past: readonly DailyUsage[]): DailyUsage[] {
  const first = recent[0]?.day ?? '';
  return [...past.filter(({ day }) => day < first), ...recent].slice(-days);
}
