import { cacheReading } from '#core/gateway/host/host.ts';
import type { Localizer } from '#core/web/pages/page.ts';
import type { NoteSource } from '#core/web/pages/plugin-notes.ts';
import { readTrends, type RouteTrend } from './read-trends.ts';
import type { StepDown } from './trends.ts';

export const trendPath = '/operator/route-trends';

const maxAgeMs = 600_000; // counts are hourly
const timeoutMs = 30_000;

/** Trends that may be twenty minutes old, or an hour if reading them fails, so that pages need not wait for a reading. */
export const recentTrends = cacheReading<readonly RouteTrend[]>(
  { maxAgeMs, staleWhileReadMs: maxAgeMs, timeoutMs, staleIfErrorMs: 6 * maxAgeMs },
  ({ database, now }) => readTrends(database, now()),
);

export const readTrendNotes: NoteSource = async (reader) =>
  (await recentTrends(reader.host).get()).flatMap(({ route, steps }) =>
    steps.map((step) => ({
      about: route,
      text: describeStep(step, reader),
      kind: 'warn' as const,
      path: `${trendPath}?${new URLSearchParams({ route }).toString()}`,
    })),
  );

/** Example: `429: 0.4% → 6.1%`. */
export function describeStep({ kind, before, now }: StepDown, { t, format }: Localizer): string {
  const formatValue = {
    throttled: (value: number) => format.percent(value),
    first_token: (value: number) => format.duration(value).text,
    speed: (value: number) => format.number(Math.round(value)),
  }[kind];
  return t(`route-trends.step.${kind}`, { before: formatValue(before), now: formatValue(now) });
}
