import type { PassCounts } from '#core/business/accounts/pass-counts.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import type { MinuteTraffic } from '#core/business/model-health/minute-traffic.ts';
import type { DailyRevenue } from '#core/business/payments/revenue.ts';
import type { Registry } from '#core/extension/registry.ts';
import { countLongCalls } from '#core/gateway/pipeline/running-exchanges.ts';
import type { DailyUsage } from '#core/gateway/records/daily-usage.ts';
import { type UsageCounts, type UsageKeys, hourMs, startOfHours } from '#core/gateway/records/usage.ts';
import { sparkPath } from '#core/web/pages/geometry.ts';
import type { PageRequest, PageReader } from '#core/web/pages/page.ts';
import { joinParts } from '#core/web/texts/formatter.ts';
import { chartHours, overviewReadings } from '../readings.ts';
import { type Span, spans, splitDays } from '../span.ts';

const longRunningMs = 60_000;
const minSparkDays = 14; // a single day would be a dot
const sparkSize = { width: 200, height: 32 };

type PeriodCounts = Pick<DailyUsage, 'requests' | 'failed'>;

export async function describeTiles(gateway: Pick<Registry, 'costsReader'>, request: PageRequest, span: Span) {
  const { host } = request;
  const [revenue, passes, days, hours, traffic, costs] = await Promise.all([
    overviewReadings.revenue(host).get(),
    overviewReadings.passes(host).get(),
    overviewReadings.days(host).get(),
    overviewReadings.hours(host).get(),
    overviewReadings.traffic(host).get(),
    gateway.costsReader?.pageCosts(request, span),
  ]);
  const { cost, left: balance } = costs?.total ?? { cost: '', left: '' };
  const points = span === 'today' ? fillHours(hours, host.now()) : splitDays(days, span).now;
  return [
    describeRevenue(revenue, span, balance, request),
    describePasses(passes, span, request),
    describeRequests(days, points, span, [describeRate(traffic, request), cost], request),
    describeFailures(days, points, span, request),
  ];
}

function buildTile(label: string, value: string, notes: readonly string[], sparkValues: readonly number[]) {
  return {
    label,
    value,
    note: joinParts(...notes),
    spark: { ...sparkPath(sparkValues, sparkSize.width, sparkSize.height), width: sparkSize.width },
  };
}

function describeRevenue(days: readonly DailyRevenue[], span: Span, balance: string, { t, format, host }: PageReader) {
  const currency = host.section(currencySection);
  const { now, before } = splitDays(days, span);
  const sparkValues = days.slice(-Math.max(minSparkDays, spans[span])).map(({ amount }) => amount);
  const orders = t('operator.revenue_note', { count: sum(now, 'orders') });
  const previous = describePrevious(span, format.money(sum(before, 'amount'), currency), t);
  return buildTile(
    t('operator.revenue'),
    format.money(sum(now, 'amount'), currency),
    [orders, previous, balance],
    sparkValues,
  );
}

function describePasses({ active, ending, history }: PassCounts, span: Span, { t, format }: PageReader) {
  const before = format.number(history.at(-1 - spans[span]) ?? 0);
  const notes = [t('operator.passes_note', { count: ending }), t(`operator.ago.${span}`, { value: before })];
  const sparkValues = history.slice(-Math.max(minSparkDays, spans[span]));
  return buildTile(t('operator.passes'), format.number(active), notes, sparkValues);
}

function describeRequests(
  days: readonly DailyUsage[],
  points: readonly PeriodCounts[],
  span: Span,
  [rate, cost]: readonly [rate: string, cost: string],
  { t, format }: PageReader,
) {
  const { now, before } = splitDays(days, span);
  const previous = describePrevious(span, format.number(sum(before, 'requests')), t);
  const notes = [span === 'today' ? rate : '', previous, cost];
  const sparkValues = points.map(({ requests }) => requests);
  return buildTile(t('operator.requests'), format.number(sum(now, 'requests')), notes, sparkValues);
}

function describeRate(traffic: readonly MinuteTraffic[], { t, format, host }: PageReader) {
  // The rate is averaged, because the last minute does not include requests that are still running.
  const rate = sum(traffic, 'requests') / Math.max(1, traffic.length);
  const slowCount = countLongCalls(host, longRunningMs);
  const key = host.shared.kind === 'redis' ? 'operator.rate_note_instance' : 'operator.rate_note';
  return joinParts(
    t('operator.rate', { rate: format.number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate)) }),
    slowCount === 0 ? '' : t(key, { count: slowCount }),
  );
}

function describeFailures(
  days: readonly DailyUsage[],
  points: readonly PeriodCounts[],
  span: Span,
  { t, format }: Pick<PageReader, 't' | 'format'>,
) {
  const { now, before } = splitDays(days, span);
  const failed = sum(now, 'failed');
  const [share, shareBefore] = [calculateFailureShare(now), calculateFailureShare(before)];
  const [failovers, finished] = [sum(now, 'failovers'), format.number(failed + sum(now, 'answered'))];
  const notes = [
    share === undefined ? '' : t('operator.failed_note', { failed: format.number(failed), finished }),
    shareBefore === undefined ? '' : describePrevious(span, format.percent(shareBefore), t),
    failovers === 0 ? '' : t('operator.failover_note', { share: format.percent(failovers / sum(now, 'requests')) }),
  ];
  const sparkValues = points.map((point) => point.failed);
  const tile = buildTile(t('operator.failed'), share === undefined ? '—' : format.percent(share), notes, sparkValues);
  return { ...tile, spark: { ...tile.spark, isBad: failed > 0 } };
}

function calculateFailureShare(days: readonly DailyUsage[]): number | undefined {
  const failed = sum(days, 'failed');
  // Rejected requests and disconnected clients do not count.
  const finished = failed + sum(days, 'answered');
  return finished === 0 ? undefined : failed / finished;
}

function describePrevious(span: Span, value: string, t: PageReader['t']): string {
  return t(`operator.before.${span}`, { value });
}

function fillHours(usage: readonly (UsageCounts & Pick<UsageKeys, 'hour'>)[], now: number): PeriodCounts[] {
  const byHour = new Map(usage.map((counts) => [counts.hour, counts]));
  const first = startOfHours(now, chartHours);
  return Array.from({ length: chartHours }, (_, index) => {
    const { requests = 0, failed = 0 } = byHour.get(first + index * hourMs) ?? {};
    return { requests, failed };
  });
}

function sum<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return rows.reduce((total, row) => total + row[name], 0);
}
