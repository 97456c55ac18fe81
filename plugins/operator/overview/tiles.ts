import type { Registry } from '#core/extension/registry.ts';
import type { PassCounts } from '#core/business/accounts/pass-counts.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import type { DailyRevenue } from '#core/business/payments/revenue.ts';
import type { DailyUsage } from '#core/gateway/records/daily-usage.ts';
import { type UsageCounts, type UsageKeys, usageHour, startOfHours } from '#core/gateway/records/usage.ts';
import { sparkPath } from '#core/web/pages/geometry.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { MinuteTraffic } from '#core/business/model-health/minute-traffic.ts';
import type { RunningRequests } from '../running-requests.ts';
import { chartHours, overviewReadings } from '../readings.ts';
import { type Span, spans, splitDays } from '../span.ts';
import { joinParts } from '#core/web/texts/formatter.ts';

/** Ms after which a running request counts as long. */
const long = 60_000;
/** Days that the sparklines of today's money and passes show at least: one alone would be a dot. */
const leastDays = 14;
const spark = { width: 200, height: 32 };

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

/** A count of requests, by hour or by day. */
type Point = Pick<DailyUsage, 'requests' | 'failed'>;

/** The figures of a span: revenue, active passes, requests, failures; each with what it was in the span before. */
export async function describeTiles(
  gateway: Pick<Registry, 'costsReader'>,
  request: PageRequest,
  running: RunningRequests,
  span: Span,
) {
  const { host } = request;
  const readings = overviewReadings(host);
  const [revenue, passes, days, hours, traffic, costs] = await Promise.all([
    readings.revenue.get(),
    readings.passes.get(),
    readings.days.get(),
    readings.hours.get(),
    readings.traffic.get(),
    gateway.costsReader?.beside(request, span),
  ]);
  const { cost, left } = costs?.total ?? { cost: '', left: '' };
  const points = span === 'today' ? hoursOf(hours, host.now()) : splitDays(days, span).now;
  return [
    describeRevenue(revenue, span, left, request),
    describePasses(passes, span, request),
    describeRequests(days, points, span, [describeRate(traffic, running, request), cost], request),
    describeFailures(days, points, span, request),
  ];
}

function describeRevenue(days: readonly DailyRevenue[], span: Span, left: string, { t, format, host }: Reader) {
  const currency = host.section(currencySection);
  const { now, before } = splitDays(days, span);
  const drawn = days.slice(-Math.max(leastDays, spans[span]));
  return {
    label: t('operator.revenue'),
    value: format.money(sum(now, 'amount'), currency),
    note: joinParts(
      t('operator.revenue_note', { count: sum(now, 'orders') }),
      beforeOf(span, format.money(sum(before, 'amount'), currency), t),
      left,
    ),
    spark: drawSpark(drawn.map(({ amount }) => amount)),
  };
}

function describePasses({ active, ending, history }: PassCounts, span: Span, { t, format }: Reader) {
  const before = history.at(-1 - spans[span]) ?? 0;
  return {
    label: t('operator.passes'),
    value: format.number(active),
    note: joinParts(
      t('operator.passes_note', { count: ending }),
      t(`operator.ago.${span}`, { value: format.number(before) }),
    ),
    spark: drawSpark(history.slice(-Math.max(leastDays, spans[span]))),
  };
}

function describeRequests(
  days: readonly DailyUsage[],
  points: readonly Point[],
  span: Span,
  [rate, cost]: readonly [rate: string, cost: string],
  { t, format }: Reader,
) {
  const { now, before } = splitDays(days, span);
  return {
    label: t('operator.requests'),
    value: format.number(sum(now, 'requests')),
    note: joinParts(span === 'today' ? rate : '', beforeOf(span, format.number(sum(before, 'requests')), t), cost),
    spark: drawSpark(points.map(({ requests }) => requests)),
  };
}

/** The last minute alone would lack the requests that are still running. */
function describeRate(traffic: readonly MinuteTraffic[], running: RunningRequests, { t, format, host }: Reader) {
  const rate = sum(traffic, 'requests') / Math.max(1, traffic.length);
  const slow = running.countOlderThan(long, host.now());
  const key = host.shared.kind === 'redis' ? 'operator.rate_note_instance' : 'operator.rate_note';
  return joinParts(
    t('operator.rate', { rate: format.number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate)) }),
    slow === 0 ? '' : t(key, { count: slow }),
  );
}

/** Of those that were answered or failed: refusals and clients that left are neither. */
function describeFailures(
  days: readonly DailyUsage[],
  points: readonly Point[],
  span: Span,
  { t, format }: Pick<Reader, 't' | 'format'>,
) {
  const { now, before } = splitDays(days, span);
  const failed = sum(now, 'failed');
  const finished = failed + sum(now, 'answered');
  const failovers = sum(now, 'failovers');
  const shareBefore = shareOf(before);
  return {
    label: t('operator.failed'),
    value: finished === 0 ? '—' : format.percent(failed / finished),
    note: joinParts(
      finished === 0
        ? ''
        : t('operator.failed_note', { failed: format.number(failed), finished: format.number(finished) }),
      shareBefore === undefined ? '' : beforeOf(span, format.percent(shareBefore), t),
      failovers === 0 ? '' : t('operator.failover_note', { share: format.percent(failovers / sum(now, 'requests')) }),
    ),
    spark: { ...drawSpark(points.map((point) => point.failed)), isBad: failed > 0 },
  };
}

/** Undefined where nothing was answered and nothing failed. */
function shareOf(days: readonly DailyUsage[]): number | undefined {
  const failed = sum(days, 'failed');
  const finished = failed + sum(days, 'answered');
  return finished === 0 ? undefined : failed / finished;
}

/** "Rp 2.190.000 yesterday", "… in the 7 days before". */
function beforeOf(span: Span, value: string, t: Reader['t']): string {
  return t(`operator.before.${span}`, { value });
}

/** The last hours, the oldest first, those without requests as zeros. @param now epoch ms */
function hoursOf(usage: readonly (UsageCounts & Pick<UsageKeys, 'hour'>)[], now: number): Point[] {
  const byHour = new Map(usage.map((one) => [one.hour, one]));
  const first = startOfHours(now, chartHours);
  return Array.from({ length: chartHours }, (_, index) => {
    const { requests = 0, failed = 0 } = byHour.get(first + index * usageHour) ?? {};
    return { requests, failed };
  });
}

function drawSpark(values: readonly number[]) {
  return { ...sparkPath(values, spark.width, spark.height), width: spark.width };
}

function sum<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return rows.reduce((total, row) => total + row[name], 0);
}
