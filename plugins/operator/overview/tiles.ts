import { currencySection } from '#core/business/accounts/plans.ts';
import { sparkPath } from '#core/web/pages/geometry.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { MinuteTraffic } from '#core/business/model-health/minute-traffic.ts';
import type { RunningRequests } from '../running-requests.ts';
import { overviewReadings } from '../readings.ts';

/** Ms after which a running request counts as long. */
const long = 60_000;
/** Minutes over which the rate is averaged, and that one point of the failures covers. */
const steps = { rate: 5, failures: 3 };
const spark = { width: 200, height: 32 };

/** The figures of today: revenue, active passes, requests per minute, failures. */
export async function describeTiles(request: PageRequest, running: RunningRequests) {
  const { host } = request;
  const readings = overviewReadings(host);
  const [revenue, passes, traffic] = await Promise.all([
    readings.revenue.get(),
    readings.passes.get(),
    readings.traffic.get(),
  ]);
  return [
    describeRevenue(revenue, request),
    describePasses(passes, request),
    describeRate(traffic, running.countOlderThan(long, host.now()), request),
    describeFailures(traffic, request),
  ];
}

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

function describeRevenue(days: readonly { amount: number; orders: number }[], { t, format, host }: Reader) {
  const today = days.at(-1) ?? { amount: 0, orders: 0 };
  return {
    label: t('operator.revenue'),
    value: format.money(today.amount, host.section(currencySection)),
    note: t('operator.revenue_note', { count: today.orders }),
    spark: drawSpark(days.map(({ amount }) => amount)),
  };
}

function describePasses(
  { active, ending, history }: { active: number; ending: number; history: readonly number[] },
  { t, format }: Reader,
) {
  return {
    label: t('operator.passes'),
    value: format.number(active),
    note: t('operator.passes_note', { count: ending }),
    spark: drawSpark(history),
  };
}

/** The last minute alone would lack the requests that are still running. */
function describeRate(traffic: readonly MinuteTraffic[], longRunning: number, { t, format, host }: Reader) {
  const last = traffic.slice(-steps.rate);
  const rate = sum(last, 'requests') / Math.max(1, last.length);
  const key = host.shared.kind === 'redis' ? 'operator.rate_note_instance' : 'operator.rate_note';
  return {
    label: t('operator.rate'),
    value: format.number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate)),
    note: t(key, { count: longRunning }),
    spark: drawSpark(traffic.slice(-30).map(({ requests }) => requests)),
  };
}

function describeFailures(traffic: readonly MinuteTraffic[], { t, format }: Reader) {
  const [requests, failed, failovers] = [sum(traffic, 'requests'), sum(traffic, 'failed'), sum(traffic, 'failovers')];
  const finished = failed + sum(traffic, 'answered');
  const points = Array.from({ length: Math.ceil(traffic.length / steps.failures) }, (_, index) =>
    sum(traffic.slice(index * steps.failures, (index + 1) * steps.failures), 'failed'),
  );
  const note =
    requests === 0
      ? t('operator.failed_none')
      : t('operator.failed_note', { failed, finished, share: format.percent(failovers / requests) });
  return {
    label: t('operator.failed'),
    value: format.percent(finished === 0 ? 0 : failed / finished),
    note,
    spark: { ...drawSpark(points), isBad: failed > 0 },
  };
}

function drawSpark(values: readonly number[]) {
  return { ...sparkPath(values, spark.width, spark.height), width: spark.width };
}

function sum(traffic: readonly MinuteTraffic[], name: keyof MinuteTraffic): number {
  return traffic.reduce((total, minute) => total + minute[name], 0);
}
