import type { MetricFamily, MetricValue } from '#core/gateway/health/metric-source.ts';
import { attributesOf } from './otlp.ts';

const cumulative = 2;

/**
 * Returns the metrics of `/metrics` as OTLP metrics, under the same names. Counters and histograms are sums since the process started, so
 * a lost report loses no counts.
 *
 * @param startedAt start of the process, in ns as text
 * @param now in ns as text
 */
export function toOtlpMetrics(families: readonly MetricFamily[], startedAt: string, now: string): object[] {
  const times = { startTimeUnixNano: startedAt, timeUnixNano: now };
  return families.flatMap((family) => {
    const { name, help: description, type, values } = family;
    if (values.length === 0) return [];
    if (type === 'histogram') {
      const dataPoints = histogramPoints(family, times);
      return { name, description, unit: unitOf(name), histogram: { aggregationTemporality: cumulative, dataPoints } };
    }
    const dataPoints = values.map(({ value, labels }) => ({
      ...times,
      attributes: attributesOf(labels),
      asDouble: value,
    }));
    if (type === 'counter')
      return {
        name,
        description,
        unit: unitOf(name),
        sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints },
      };
    return { name, description, unit: unitOf(name), gauge: { dataPoints } };
  });
}

/** Returns the UCUM unit for the name's suffix; '' for counts. Collectors add `_ratio` to Prometheus names of gauges with unit 1. */
function unitOf(name: string): string {
  const [, word = ''] = /_([a-z]+?)(?:_total)?$/.exec(name) ?? [];
  return units[word] ?? '';
}

const units: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By', ratio: '1' };

interface Times {
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

function histogramPoints({ name, values }: MetricFamily, times: Times): object[] {
  const series = Map.groupBy(values, ({ labels }) => JSON.stringify(withoutBound(labels)));
  return [...series.values()].map((own) => {
    const buckets = own
      .filter(({ labels }) => labels['le'] !== undefined)
      .map(({ labels, value }) => ({ bound: boundOf(labels['le']), value }))
      .toSorted((first, second) => first.bound - second.bound);
    return {
      ...times,
      attributes: attributesOf(withoutBound(own[0]?.labels ?? {})),
      count: String(valueOf(own, `${name}_count`)),
      sum: valueOf(own, `${name}_sum`),
      explicitBounds: buckets.map(({ bound }) => bound).filter(Number.isFinite),
      // Prometheus buckets are cumulative, OTLP buckets are not.
      bucketCounts: buckets.map(({ value }, index) => String(value - (buckets[index - 1]?.value ?? 0))),
    };
  });
}

function withoutBound(labels: MetricValue['labels']): MetricValue['labels'] {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le'));
}

function boundOf(le: string | number | undefined): number {
  return le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
}

function valueOf(values: readonly MetricValue[], metricName: string): number {
  return values.find((value) => value.metricName === metricName)?.value ?? 0;
}
