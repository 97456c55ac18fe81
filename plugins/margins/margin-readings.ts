import { service } from '#core/config/sections/core-sections.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { perCatalog, type Host } from '#core/gateway/host/host.ts';
import { type Margins, type ReadCounts, readMargins } from './margins.ts';
import { readUsageCounts } from './read-usage.ts';
import { readPrices } from './prices.ts';
import { runInBackground } from '#core/platform/background.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';

/** Span of a reading: the last days including today, or the last whole month. */
export const marginSpans = ['today', '7d', '30d', 'month'] as const;
export type MarginSpan = (typeof marginSpans)[number];

/** Age at which a reading is refreshed, ms; the old one is shown meanwhile. */
const maxAge = 60_000;
const staleFor = 600_000;
/** Ms after which usage from before yesterday is read again: records may arrive late, and periods may be changed afterwards. */
const pastMaxAge = 600_000;
/** Ms for a reading: a month with thousands of accounts takes seconds, at most once a minute. */
const deadline = 30_000;

/** Cost and earnings of each span, shared by all operators. */
export const marginReadings = perCatalog((host: Host) => {
  const fresh = (span: MarginSpan) => {
    const readCounts = countsWithPast(host);
    return new FreshValue({
      maxAgeMs: maxAge,
      staleWhileReadMs: staleFor,
      timeoutMs: deadline,
      now: () => host.monotonic(),
      read: () => read(host, span, readCounts),
    });
  };
  return { today: fresh('today'), '7d': fresh('7d'), '30d': fresh('30d'), month: fresh('month') };
});

/** Ms that other pages wait for margins: the first reading of a span may take seconds. */
const shortWait = 250;

/** Margins shown next to usage; undefined without declared costs, until the first reading has ended, or if it failed. */
export async function readMarginsBeside(host: Host, span: MarginSpan): Promise<Margins | undefined> {
  if (!readPrices(host).isDeclared) return undefined;
  const reading = marginReadings(host)[span].get();
  runInBackground(host.log, 'reading margins', () => reading);
  const margins = await waitForFirst([reading.catch(() => undefined)], shortWait);
  return margins === notSettled ? undefined : margins;
}

async function read(host: Host, span: MarginSpan, readCounts: ReadCounts) {
  const { time_zone: timeZone } = host.section(service);
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(host.now());
  const { since, until } = await dayRangeToTimes(host.database, timeZone, ...daysOf(span, today));
  const now = host.now();
  return readMargins(
    host,
    { from: since?.getTime() ?? now, until: Math.min(until?.getTime() ?? now, now) },
    readCounts,
  );
}

type Counts = Awaited<ReturnType<typeof readUsageCounts>>;

/** Reads usage from before yesterday only every ten minutes: of a month's rows, today and yesterday have a fifteenth. */
export function countsWithPast({ database, now, monotonic }: Pick<Host, 'database' | 'now' | 'monotonic'>): ReadCounts {
  let past: { readonly key: string; readonly readAt: number; readonly counts: Counts } | undefined;
  return async ({ from, until }) => {
    const yesterday = Math.floor(now() / dayMs) * dayMs - dayMs;
    const border = Math.min(until, yesterday);
    if (border <= from) return readUsageCounts(database, { from, until });
    const key = `${from} ${border}`;
    if (past?.key !== key || monotonic() - past.readAt >= pastMaxAge)
      past = { key, readAt: monotonic(), counts: await readUsageCounts(database, { from, until: border }) };
    const { counts } = past;
    if (border === until) return counts;
    const recent = await readUsageCounts(database, { from: border, until });
    return {
      accounts: [...counts.accounts, ...recent.accounts],
      hours: [...counts.hours, ...recent.hours],
    };
  };
}

const dayMs = 86_400_000;

/** First and last day of a span. @param today `2026-11-22` */
function daysOf(span: MarginSpan, today: string): [first: string, last: string] {
  const [year = 0, month = 0, day = 0] = today.split('-').map(Number);
  if (span === 'month') return [dayText(year, month - 2, 1), dayText(year, month - 1, 0)];
  const days = { today: 1, '7d': 7, '30d': 30 }[span];
  return [dayText(year, month - 1, day - days + 1), today];
}

/** Formats a date; an out-of-range month or day carries over to the adjacent ones. */
function dayText(year: number, month: number, day: number): string {
  return new Date(Date.UTC(year, month, day)).toISOString().slice(0, 10);
}
