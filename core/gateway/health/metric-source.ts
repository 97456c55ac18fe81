import type { Host } from '../host/host.ts';

/** A metric with its values, as shown at `/metrics`. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly values: readonly MetricValue[];
}

/** One value. A histogram has cumulative buckets (label `le`), `…_sum` and `…_count`, distinguished by `metricName`. */
export interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly metricName?: string | undefined;
}

interface MetricSource {
  read: (() => Promise<readonly MetricFamily[]>) | undefined;
}

/** Returns the source of the process's metrics for consumers other than Prometheus. The metrics plugin sets its `read`. */
export function getMetricSource(host: Pick<Host, 'keep'>): MetricSource {
  return host.keep('metrics/source', () => ({ read: undefined }));
}
