import type { Registry } from '#core/extension/registry.ts';
import type { PassCounts } from '#core/business/accounts/pass-counts.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import type { DailyRevenue } from '#core/business/payments/revenue.ts';
import type { DailyUsage } from '#core/gateway/records/daily-usage.ts';
import { type UsageCounts, type UsageKeys, hourMs, startOfHours } from '#core/gateway/records/usage.ts';
import { sparkPath } from '#core/web/pages/geometry.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { MinuteTraffic } from '#core/business/model-health/minute-traffic.ts';
import type { RunningRequests } from '../running-requests.ts';
import { chartHours, overviewReadings } from '../readings.ts';
import { type Span, spans, splitDays } from '../span.ts';
import { joinParts } from '#core/web/texts/formatter.ts';

/** Ms after which a running request counts as long-running. */
const long = 60_000;
/** Minimum days in the sparklines of today's money and passes: a single day would be a dot. */
const leastDays = 14;
const spark = { width: 200, height: 32 };

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

/** A count of requests, by hour or by day. */
type Point = Pick<DailyUsage, 'requests' | 'failed'>;

/** Figures of a span: revenue, active passes, requests and failures; each with its value in the span before. */
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
    gateway.costsReader?.pageCosts(request, span),
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

/** @param notes additional facts @param drawn values of the sparkline */
function tileOf(label: string, value: string, notes: readonly string[], drawn: readonly number[]) {
  return {
    label,
    value,
    note: joinParts(...notes),
    spark: { ...sparkPath(drawn, spark.width, spark.height), width: spark.width },
  };
}

function describeRevenue(days: readonly DailyRevenue[], span: Span, left: string, { t, format, host }: Reader) {
  const currency = host.section(currencySection);
  const { now, before } = splitDays(days, span);
  const drawn = days.slice(-Math.max(leastDays, spans[span])).map(({ amount }) => amount);
  const orders = t('operator.revenue_note', { count: sum(now, 'orders') });
  const earlier = beforeOf(span, format.money(sum(before, 'amount'), currency), t);
  return tileOf(t('operator.revenue'), format.money(sum(now, 'amount'), currency), [orders, earlier, left], drawn);
}

function describePasses({ active, ending, history }: PassCounts, span: Span, { t, format }: Reader) {
  const before = format.number(history.at(-1 - spans[span]) ?? 0);
  const notes = [t('operator.passes_note', { count: ending }), t(`operator.ago.${span}`, { value: before })];
  const drawn = history.slice(-Math.max(leastDays, spans[span]));
  return tileOf(t('operator.passes'), format.number(active), notes, drawn);
}

function describeRequests(
  days: readonly DailyUsage[],
  points: readonly Point[],
  span: Span,
  [rate, cost]: readonly [rate: string, cost: string],
  { t, format }: Reader,
) {
  const { now, before } = splitDays(days, span);
  const earlier = beforeOf(span, format.number(sum(before, 'requests')), t);
  const notes = [span === 'today' ? rate : '', earlier, cost];
  const drawn = points.map(({ requests }) => requests);
  return tileOf(t('operator.requests'), format.number(sum(now, 'requests')), notes, drawn);
}

/** Averages several minutes: the last minute lacks the requests that are still running. */
function describeRate(traffic: readonly MinuteTraffic[], running: RunningRequests, { t, format, host }: Reader) {
  const rate = sum(traffic, 'requests') / Math.max(1, traffic.length);
  const slow = running.countOlderThan(long, host.now());
  const key = host.shared.kind === 'redis' ? 'operator.rate_note_instance' : 'operator.rate_note';
  return joinParts(
    t('operator.rate', { rate: format.number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate)) }),
    slow === 0 ? '' : t(key, { count: slow }),
  );
}

/** Share of failures among answered and failed requests; refusals and clients that disconnected are not counted. */
function describeFailures(
  days: readonly DailyUsage[],
  points: readonly Point[],
  span: Span,
  { t, format }: Pick<Reader, 't' | 'format'>,
) {
  const { now, before } = splitDays(days, span);
  const failed = sum(now, 'failed');
  const [share, shareBefore] = [shareOf(now), shareOf(before)];
  const [failovers, finished] = [sum(now, 'failovers'), format.number(failed + sum(now, 'answered'))];
  const notes = [
    share === undefined ? '' : t('operator.failed_note', { failed: format.number(failed), finished }),
    shareBefore === undefined ? '' : beforeOf(span, format.percent(shareBefore), t),
    failovers === 0 ? '' : t('operator.failover_note', { share: format.percent(failovers / sum(now, 'requests')) }),
  ];
  const drawn = points.map((point) => point.failed);
  const tile = tileOf(t('operator.failed'), share === undefined ? '—' : format.percent(share), notes, drawn);
  return { ...tile, spark: { ...tile.spark, isBad: failed > 0 } };
}

/** Undefined without any answered or failed request. */
function shareOf(days: readonly DailyUsage[]): number | undefined {
  const failed = sum(days, 'failed');
  const finished = failed + sum(days, 'answered');
  return finished === 0 ? undefined : failed / finished;
}

/** "Rp 2.190.000 yesterday", "… in the 7 days before". */
function beforeOf(span: Span, value: string, t: Reader['t']): string {
  return t(`operator.before.${span}`, { value });
}

/** The last hours, oldest first; hours without requests are zeros. @param now epoch ms */
function hoursOf(usage: readonly (UsageCounts & Pick<UsageKeys, 'hour'>)[], now: number): Point[] {
  const byHour = new Map(usage.map((one) => [one.hour, one]));
  const first = startOfHours(now, chartHours);
  return Array.from({ length: chartHours }, (_, index) => {
    const { requests = 0, failed = 0 } = byHour.get(first + index * hourMs) ?? {};
    return { requests, failed };
  });
}

function sum<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return rows.reduce((total, row) => total + row[name], 0);
}
