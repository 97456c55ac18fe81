import type { Localizer } from '#core/web/pages/page.ts';
import type { Range } from './account-usage.ts';
import { type HourSum, sum } from './sum-usage.ts';

const maxModels = 5;

export interface ChartBar {
  readonly iso: string;
  readonly label: string;
  readonly answered: number;
  readonly errors: number;
  readonly answeredText: string;
  readonly errorsText: string;
}

export function describeChart(hours: readonly HourSum[], range: Range, { t, format }: Localizer) {
  const bars = range === '24h' ? describeHours(hours, format) : describeDays(hours, format);
  const answered = sum(bars.map((bar) => bar.answered));
  const errors = sum(bars.map((bar) => bar.errors));
  const peak = bars.reduce((best, bar) => (bar.answered + bar.errors > best.answered + best.errors ? bar : best));
  const summary = t(`home.chart.summary.${range}`, {
    count: answered + errors,
    requests: answered + errors,
    since: format.dayTime(new Date(bars[0]?.iso ?? 0)).text,
    errors,
    most: peak.answered + peak.errors,
    at: peak.label,
  });
  return { bars, summary };
}

type Format = Localizer['format'];

function describeHours(hours: readonly HourSum[], format: Format): ChartBar[] {
  return hours.map((counts) => describeBar(format.shortTime(new Date(counts.hour)), [counts], format));
}

function describeDays(hours: readonly HourSum[], format: Format): ChartBar[] {
  // The text of a day is in the reader's time zone, so all hours of that day have the same text.
  const days = Map.groupBy(hours, ({ hour }) => format.day(new Date(hour)).text);
  // The range includes only the last hours of its first day.
  return [...days.values()]
    .slice(-30)
    .map((dayHours) => describeBar(format.shortDay(new Date(dayHours[0]?.hour ?? 0)), dayHours, format));
}

function describeBar(time: { iso: string; text: string }, counts: readonly HourSum[], format: Format): ChartBar {
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

/** @param ranked most used first */
export function describeModels(ranked: readonly { name: string | null; requests: number }[], { t, format }: Localizer) {
  const maxRequests = ranked[0]?.requests ?? 1;
  const hiddenModels = ranked.length - maxModels;
  return {
    list: ranked.slice(0, maxModels).map(({ name, requests }) => ({
      name: name ?? t('home.models.without'),
      requests: format.number(requests),
      share: Math.max(1, Math.round((requests / maxRequests) * 1000)),
    })),
    others: hiddenModels > 0 ? t('home.models.others', { count: hiddenModels }) : '',
  };
}
