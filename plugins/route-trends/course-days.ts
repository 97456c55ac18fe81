import { LRUCache } from 'lru-cache';
import { type Host, perCatalog } from '#core/gateway/host/host.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { startOfHours } from '#core/gateway/records/usage.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { type PassedAt, readCourse } from './read-trends.ts';

const days = 14;
/** Hours that are read for each view. They include yesterday, so that it is complete after midnight. */
const recentHours = 48;
/** Cache lifetime of earlier days. Only late records change them, and reading their histograms takes most of the time. */
const maxAge = 600_000;
const deadline = 10_000;
const maxRoutes = 100;

const earlierDays = perCatalog(() => new LRUCache<string, FreshValue<PassedAt[]>>({ max: maxRoutes }));

/** Reads a route's last fourteen days in the service's time zone, latest first. Counts before yesterday may be ten minutes old. */
export async function readCourseDays(host: Host, route: string): Promise<PassedAt[]> {
  const timeZone = host.section(service).time_zone;
  const read = (hours: number) =>
    readCourse(host.database, route, { since: startOfHours(host.now(), hours), by: 'day', timeZone });
  const cache = earlierDays(host);
  const earlier =
    cache.get(route) ??
    new FreshValue({
      maxAgeMs: maxAge,
      staleWhileReadMs: maxAge,
      timeoutMs: deadline,
      now: () => host.monotonic(),
      read: () => read(days * 24),
    });
  cache.set(route, earlier);
  const first = startOfHours(host.now(), recentHours);
  const [recent, past] = await Promise.all([read(recentHours), earlier.get()]);
  return [...recent.filter(({ at }) => at >= first), ...past.filter(({ at }) => at < first)];
}
