import type { MetricFamily, MetricValue } from '#core/gateway/health/metric-source.ts';
import { toAttributes } from './otlp.ts';

const cumulativeTemporality = 2;

/**
 * Keeps the names of `/metrics`; times are ns as text. Counters and histograms are sums since the process started, so a lost report loses
 * no counts.
 */
export function toOtlpMetrics(families: readonly MetricFamily[], startedAt: string, now: string): object[] {
  const times = { startTimeUnixNano: startedAt, timeUnixNano: now };
  return families.flatMap((family) => {
    const { name, help: description, type, values } = family;
    if (values.length === 0) return [];
    if (type === 'histogram') {
      const dataPoints = describeHistogramPoints(family, times);
      return {
        name,
        description,
        unit: findUnit(name),
        histogram: { aggregationTemporality: cumulativeTemporality, dataPoints },
      };
    }
    const dataPoints = values.map(({ value, labels }) => ({
      ...times,
      attributes: toAttributes(labels),
      asDouble: value,
    }));
    if (type === 'counter')
      return {
        name,
        description,
        unit: findUnit(name),
        sum: { aggregationTemporality: cumulativeTemporality, isMonotonic: true, dataPoints },
      };
    return { name, description, unit: findUnit(name), gauge: { dataPoints } };
  });
}

/** UCUM unit; '' for counts. Collectors add `_ratio` to the Prometheus names of gauges with unit 1. */
function findUnit(name: string): string {
  const [, suffix = ''] = /_([a-z]+?)(?:_total)?$/.exec(name) ?? [];
  return unitsBySuffix[suffix] ?? '';
}

const unitsBySuffix: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By', ratio: '1' };

interface Times {
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

function describeHistogramPoints({ name, values }: MetricFamily, times: Times): object[] {
  const series = Map.groupBy(values, ({ labels }) => JSON.stringify(removeBound(labels)));
  return [...series.values()].map((seriesValues) => {
    const buckets = seriesValues
      .filter(({ labels }) => labels['le'] !== undefined)
      .map(({ labels, value }) => ({ bound: parseBound(labels['le']), value }))
      .toSorted((first, second) => first.bound - second.bound);
    return {
      ...times,
      attributes: toAttributes(removeBound(seriesValues[0]?.labels ?? {})),
      count: String(findValue(seriesValues, `${name}_count`)),
      sum: findValue(seriesValues, `${name}_sum`),
      explicitBounds: buckets.map(({ bound }) => bound).filter(Number.isFinite),
      // Prometheus buckets are cumulative; OTLP buckets are not.
      bucketCounts: buckets.map(({ value }, index) => String(value - (buckets[index - 1]?.value ?? 0))),
    };
  });
}

function removeBound(labels: MetricValue['labels']): MetricValue['labels'] {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le'));
}

function parseBound(le: string | number | undefined): number {
  return le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
}

function findValue(values: readonly MetricValue[], metricName: string): number {
  return values.find((value) => value.metricName === metricName)?.value ?? 0;
}
