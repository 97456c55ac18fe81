import type { PageRequest } from '#core/pages/page.ts';
import { startOfHours, usageHour } from '#core/records/usage.ts';
import { type HourCounts, hoursOf, type ModelCounts, type Range } from './account-usage.ts';

type Reader = Pick<PageRequest, 't' | 'format'>;

/** Models in the list; the others are counted. */
const listedModels = 5;

/** One bar, and one row of the table that says the same. */
export interface ChartBar {
  readonly iso: string;
  readonly label: string;
  readonly answered: number;
  readonly errors: number;
  readonly answeredText: string;
  readonly errorsText: string;
}

/** Requests by hour, or by day of the reader. */
export function describeChart(hours: readonly HourCounts[], range: Range, now: number, { t, format }: Reader) {
  const bars = range === '24h' ? barsOfHours(hours, now, format) : barsOfDays(hours, now, format);
  const answered = sum(bars.map((bar) => bar.answered));
  const errors = sum(bars.map((bar) => bar.errors));
  const most = bars.reduce((best, bar) => (bar.answered + bar.errors > best.answered + best.errors ? bar : best));
  const summary = t(`home.chart.summary.${range}`, {
    requests: answered + errors,
    errors,
    most: most.answered + most.errors,
    at: most.label,
  });
  return { bars, summary, range };
}

type Format = Reader['format'];

function barsOfHours(hours: readonly HourCounts[], now: number, format: Format): ChartBar[] {
  const byHour = new Map(hours.map((counts) => [counts.hour, counts]));
  const first = startOfHours(now, hoursOf('24h'));
  return Array.from({ length: hoursOf('24h') }, (_, index) => {
    const hour = first + index * usageHour;
    const counts = byHour.get(hour);
    return barOf(format.shortTime(new Date(hour)), counts === undefined ? [] : [counts], format);
  });
}

function barsOfDays(hours: readonly HourCounts[], now: number, format: Format): ChartBar[] {
  const first = startOfHours(now, hoursOf('30d'));
  const starts = Array.from({ length: hoursOf('30d') }, (_, index) => first + index * usageHour);
  // The day is written as the reader counts days, so that hours of one day have one text.
  const days = Map.groupBy(starts, (hour) => format.day(new Date(hour)).text);
  const byHour = new Map(hours.map((counts) => [counts.hour, counts]));
  // Of the first day only its last hours are in the range.
  return [...days.values()].slice(-30).map((ofDay) =>
    barOf(
      format.shortDay(new Date(ofDay[0] ?? first)),
      ofDay.flatMap((hour) => byHour.get(hour) ?? []),
      format,
    ),
  );
}

function barOf(time: { iso: string; text: string }, counts: readonly HourCounts[], format: Format): ChartBar {
  const errors = sum(counts.map((count) => count.errors));
  const answered = sum(counts.map((count) => count.requests)) - errors;
  return {
    iso: time.iso,
    label: time.text,
    answered,
    errors,
    answeredText: format.number(answered),
    errorsText: format.number(errors),
  };
}

/** Models by requests, the most used first; requests that are no model calls are left out. */
export function describeModels(models: readonly ModelCounts[], { t, format }: Reader) {
  const ranked = models
    .flatMap(({ model, requests }) => (model === null ? [] : { name: model, requests }))
    .toSorted((a, b) => b.requests - a.requests);
  const most = ranked[0]?.requests ?? 1;
  const others = ranked.length - listedModels;
  return {
    list: ranked.slice(0, listedModels).map(({ name, requests }) => ({
      name,
      requests: format.number(requests),
      share: Math.max(1, Math.round((requests / most) * 1000)),
    })),
    others: others > 0 ? t('home.models.others', { count: others }) : '',
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
