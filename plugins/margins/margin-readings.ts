import { service } from '#core/config/sections/core-sections.ts';
import { memoizePerCatalog, type Host } from '#core/gateway/host/host.ts';
import { runInBackground } from '#core/platform/background.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { type Margins, type ReadCounts, readMargins } from './margins.ts';
import { readPrices } from './prices.ts';
import { readUsageCounts } from './read-usage.ts';

/** What a reading covers: the last days including today, or the last full month. */
export const marginSpans = ['today', '7d', '30d', 'month'] as const;
export type MarginSpan = (typeof marginSpans)[number];

const maxAgeMs = 60_000; // the old reading is shown during a refresh
const maxStaleMs = 600_000;
const maxPastAgeMs = 600_000; // records may arrive late and periods may change
const timeoutMs = 30_000; // a month with thousands of accounts takes seconds, but is read at most once a minute

/** Shared by all operators. */
export const marginReadings = memoizePerCatalog((host: Host) => {
  const createReading = (span: MarginSpan) => {
    const readCounts = cacheCounts(host);
    return new FreshValue({
      maxAgeMs,
      staleWhileReadMs: maxStaleMs,
      timeoutMs,
      now: () => host.monotonic(),
      read: () => readSpan(host, span, readCounts),
    });
  };
  return {
    today: createReading('today'),
    '7d': createReading('7d'),
    '30d': createReading('30d'),
    month: createReading('month'),
  };
});

const shortWaitMs = 250; // the first reading of a span may take seconds

/** Returns undefined if no costs are declared, or if the first reading is not finished or failed. */
export async function readMarginsForUsage(host: Host, span: MarginSpan): Promise<Margins | undefined> {
  if (!readPrices(host).isDeclared) return undefined;
  const reading = marginReadings(host)[span].get();
  runInBackground(host.log, 'reading margins', () => reading);
  const margins = await waitForFirst([reading.catch(() => undefined)], shortWaitMs);
  return margins === notSettled ? undefined : margins;
}

async function readSpan(host: Host, span: MarginSpan, readCounts: ReadCounts) {
  const { time_zone: timeZone } = host.section(service);
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(host.now());
  const { since, until } = await dayRangeToTimes(host.database, timeZone, ...getSpanDays(span, today));
  const now = host.now();
  return readMargins(
    host,
    { from: since?.getTime() ?? now, until: Math.min(until?.getTime() ?? now, now) },
    readCounts,
  );
}

const dayMs = 86_400_000;

type Counts = Awaited<ReturnType<typeof readUsageCounts>>;

/** Rereads usage from before yesterday only every ten minutes. Today and yesterday are only a fifteenth of a month. */
export function cacheCounts({ database, now, monotonic }: Pick<Host, 'database' | 'now' | 'monotonic'>): ReadCounts {
  let pastUsage: { readonly key: string; readonly readAt: number; readonly counts: Counts } | undefined;
  return async ({ from, until }) => {
    const yesterday = Math.floor(now() / dayMs) * dayMs - dayMs;
    const boundary = Math.min(until, yesterday);
    if (boundary <= from) return readUsageCounts(database, { from, until });
    const key = `${from} ${boundary}`;
    if (pastUsage?.key !== key || monotonic() - pastUsage.readAt >= maxPastAgeMs)
      pastUsage = { key, readAt: monotonic(), counts: await readUsageCounts(database, { from, until: boundary }) };
    const { counts } = pastUsage;
    if (boundary === until) return counts;
    const recent = await readUsageCounts(database, { from: boundary, until });
    return {
      accounts: [...counts.accounts, ...recent.accounts],
      hours: [...counts.hours, ...recent.hours],
    };
  };
}

function getSpanDays(span: MarginSpan, today: string): [first: string, last: string] {
  const [year = 0, month = 0, day = 0] = today.split('-').map(Number);
  if (span === 'month') return [formatDay(year, month - 2, 1), formatDay(year, month - 1, 0)];
  const days = { today: 1, '7d': 7, '30d': 30 }[span];
  return [formatDay(year, month - 1, day - days + 1), today];
}

/** An out-of-range month or day carries over to the adjacent ones. */
function formatDay(year: number, month: number, day: number): string {
  return new Date(Date.UTC(year, month, day)).toISOString().slice(0, 10);
}
