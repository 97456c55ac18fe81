import { LRUCache } from 'lru-cache';
import { service } from '#core/config/sections/core-sections.ts';
import { type Host, memoizePerCatalog } from '#core/gateway/host/host.ts';
import { startOfHours } from '#core/gateway/records/usage.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { type TimedCounts, readTimedCounts } from './read-trends.ts';

const shownDays = 14;
const recentHours = 48; // read for each view, with yesterday, so that its counts are complete just after midnight
const maxAgeMs = 600_000; // for earlier days: only late records change them, and reading their histograms takes most of the time
const timeoutMs = 10_000;
const maxRoutes = 100;

const earlierDaysCache = memoizePerCatalog(() => new LRUCache<string, FreshValue<TimedCounts[]>>({ max: maxRoutes }));

/** Latest first, in the service's time zone. Counts from before yesterday may be ten minutes old. */
export async function readDailyCounts(host: Host, route: string): Promise<TimedCounts[]> {
  const timeZone = host.section(service).time_zone;
  const readHours = (hours: number) =>
    readTimedCounts(host.database, route, { since: startOfHours(host.now(), hours), by: 'day', timeZone });
  const cache = earlierDaysCache(host);
  const earlierDays =
    cache.get(route) ??
    new FreshValue({
      maxAgeMs,
      staleWhileReadMs: maxAgeMs,
      timeoutMs,
      now: () => host.monotonic(),
      read: () => readHours(shownDays * 24),
    });
  cache.set(route, earlierDays);
  const recentSince = startOfHours(host.now(), recentHours);
  const [recent, past] = await Promise.all([readHours(recentHours), earlierDays.get()]);
  return [...recent.filter(({ at }) => at >= recentSince), ...past.filter(({ at }) => at < recentSince)];
}
