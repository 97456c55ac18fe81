import type { AccountAllowance } from '#core/business/accounts/allowance.ts';
import { mergeHistograms, quantile, sumRequests } from '#core/gateway/records/latency-histogram.ts';
import { hourMs } from '#core/gateway/records/usage.ts';
import { sparkPath } from '#core/web/pages/geometry.ts';
import type { Localizer } from '#core/web/pages/page.ts';
import { type HourSum, sum } from './sum-usage.ts';

const minTimedResponses = 20;

const minComparedRequests = 20; // with fewer requests a day, a change in percent means nothing

const sparkWidth = 200; // in its own units; CSS stretches it
const sparkHeight = 32;

export interface FigureTile {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly unit: string;
  readonly note: string;
  readonly spark: { readonly line: string; readonly area: string; readonly isBad: boolean };
}

/** @param hours the last 48 hours */
export function describeFigures(hours: readonly HourSum[], now: number, reader: Localizer): FigureTile[] {
  const day = hours.slice(-24);
  const previousDay = hours.slice(-48, -24);
  const since = describeStart(day[0]?.hour ?? now, now, reader);
  return [
    describeRequests(day, previousDay, now, since, reader),
    describeErrors(day, since, reader),
    describeFirstToken(day, reader),
  ];
}

function describeStart(startedAt: number, now: number, { t, format }: Localizer): string {
  const time = format.shortTime(new Date(startedAt)).text;
  const isToday = format.day(new Date(startedAt)).text === format.day(new Date(now)).text;
  return isToday ? time : t('home.tile.yesterday', { time });
}

function describeRequests(
  day: readonly HourSum[],
  previousDay: readonly HourSum[],
  now: number,
  since: string,
  { t, format }: Localizer,
): FigureTile {
  const counts = day.map(({ requests }) => requests);
  const total = sum(counts);
  return {
    id: 'requests',
    label: t('home.tile.requests', { time: since }),
    value: format.number(total),
    unit: '',
    note: describeChange(total, countUntilNow(previousDay, now), { t, format }),
    spark: describeSpark(counts),
  };
}

function countUntilNow(hours: readonly HourSum[], now: number): number {
  // The last hour counts only in proportion to the elapsed part of the current hour.
  const elapsedShare = (now % hourMs) / hourMs;
  return sum(hours.map(({ requests }, index) => (index === hours.length - 1 ? requests * elapsedShare : requests)));
}

function describeChange(total: number, previousTotal: number, { t, format }: Localizer): string {
  if (previousTotal < 1) return '';
  if (previousTotal < minComparedRequests) return t('home.tile.before', { count: Math.round(previousTotal) });
  const change = total / previousTotal - 1;
  // Above a tenfold increase, a percentage is not useful.
  if (change > 9) return '';
  const share = format.percent(Math.abs(change));
  if (Math.abs(change) < 0.0005) return t('home.tile.same');
  return t(change > 0 ? 'home.tile.more' : 'home.tile.less', { share });
}

function describeErrors(day: readonly HourSum[], since: string, { t, format }: Localizer): FigureTile {
  const errors = day.map((hour) => hour.errors);
  const requests = sum(day.map((hour) => hour.requests));
  return {
    id: 'errors',
    label: t('home.tile.errors', { time: since }),
    value: requests === 0 ? '—' : format.percent(sum(errors) / requests),
    unit: '',
    note: t('home.tile.of', { errors: sum(errors), requests }),
    spark: { ...describeSpark(errors), isBad: true },
  };
}

function describeFirstToken(day: readonly HourSum[], { t, format }: Localizer): FigureTile {
  const histogram = mergeHistograms(day.map((hour) => hour.firstContent));
  const median = quantile(histogram, 0.5);
  const percentile = quantile(histogram, 0.95);
  const medianText = median === undefined ? undefined : format.duration(median);
  return {
    id: 'first-token',
    label: t('home.tile.first_token'),
    value: medianText?.value ?? '—',
    unit: medianText?.unit ?? '',
    note:
      percentile === undefined
        ? t('home.tile.none')
        : describePercentile(percentile, sumRequests(histogram), { t, format }),
    // An hour without requests has no value, which is different from zero.
    spark: describeSpark(day.flatMap((hour) => quantile(hour.firstContent, 0.5) ?? [])),
  };
}

function describePercentile(percentile: number, answers: number, { t, format }: Localizer): string {
  if (answers < minTimedResponses) return t('home.tile.of_answers', { count: answers });
  return t('home.tile.under', { duration: format.duration(percentile).text });
}

function describeSpark(values: readonly number[]): FigureTile['spark'] {
  const isFlat = values.length < 2 || values.every((value) => value === 0);
  const { line, area } = sparkPath(isFlat ? [] : values, sparkWidth, sparkHeight);
  return { line, area, isBad: false };
}

const periodNames: Readonly<Record<number, string>> = { 1: 'second', 60: 'minute', 3600: 'hour', 86_400: 'day' }; // by length in seconds

/** @param moreLink link for requesting higher limits; '' if there is none */
export function describeRate(allowance: AccountAllowance, moreLink: string, { t, format }: Localizer) {
  const { limit, period, burst, remaining, resetAfter, running, concurrent } = allowance;
  const name = periodNames[period];
  const isPerMinute = name === 'minute' && burst === limit;
  const limitText = t(name === undefined ? 'home.rate.every' : `home.rate.${name}`, { count: limit, seconds: period });
  const reset =
    resetAfter <= 0 ? '' : t('home.rate.reset', { duration: format.duration(toRoundedMs(resetAfter)).text });
  const inUse = t('home.rate.running', { running, concurrent });
  return {
    label: isPerMinute ? t('home.rate.this_minute') : limitText,
    value: format.number(remaining),
    // Unless the period is a minute, the number is the remaining burst.
    unit: t(isPerMinute ? 'home.rate.left' : 'home.rate.burst', { count: burst }),
    meter: { max: burst, value: burst - remaining, label: t('home.rate.used') },
    text: [reset, inUse].filter((part) => part !== '').join(' · '),
    moreLink,
  };
}

function toRoundedMs(seconds: number): number {
  return Math.ceil(seconds) * 1_000;
}
