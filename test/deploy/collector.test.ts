import { expect, it } from 'vitest';
import { toOtlpMetrics } from '../../plugins/telemetry/metrics-report.ts';
import { type NamedMetric, seriesBehindCollector } from './collector-names.ts';
import { exposedMetrics, exposedSeries, registryOfPlugins } from './watching-fixture.ts';

it('the gateway has the same series in a Prometheus behind an OpenTelemetry Collector as at a scrape', async () => {
  const registry = await registryOfPlugins();
  const families = exposedMetrics(registry).map(({ name, type }) => {
    const buckets = type === 'histogram' ? [{ value: 1, labels: { le: '+Inf' }, metricName: `${name}_bucket` }] : [];
    return { name, type, help: name, values: [{ value: 1, labels: {} }, ...buckets] };
  });
  const reported = toOtlpMetrics(families, '0', '1') as NamedMetric[];
  expect(reported.length).toBeGreaterThan(50);
  expect(reported.flatMap(seriesBehindCollector).toSorted()).toEqual([...exposedSeries(registry).keys()].toSorted());
});
