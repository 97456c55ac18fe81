import { LRUCache } from 'lru-cache';
import { type Host, perCatalog } from '#core/gateway/host/host.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { startOfHours } from '#core/gateway/records/usage.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { type PassedAt, readCourse } from './read-trends.ts';

const days = 14;
/** Hours whose days are read for each view; includes yesterday, so that it is complete after midnight. */
const recentHours = 48;
/** Ms after which earlier days are read again: only late records change them, and their histograms take most of a view. */
const maxAge = 600_000;
const deadline = 10_000;
const maxRoutes = 100;

const earlierDays = perCatalog(() => new LRUCache<string, FreshValue<PassedAt[]>>({ max: maxRoutes }));

/** Reads the last fourteen days of a route in the service's time zone, the latest first. Days before yesterday may be ten minutes old. */
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
