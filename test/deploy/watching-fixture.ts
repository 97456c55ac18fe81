import { readFile } from 'node:fs/promises';
import { Registry as PromRegistry } from 'prom-client';
import { parse } from 'yaml';
import { assemble } from '#core/extension/assembly.ts';
import type { Registry } from '#core/extension/registry.ts';
import { createLogger } from '#core/platform/logger.ts';
import { registerGauge } from '../../plugins/metrics/metrics.ts';
import { RequestMeters } from '../../plugins/metrics/request-meters.ts';

export const alertsFile = new URL('../../deploy/prometheus/alerts.yml', import.meta.url);

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

export async function readAlerts(): Promise<AlertRule[]> {
  const { groups } = parse(await readFile(alertsFile, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

const notStarted = () => {
  throw new Error('the gateway has not started');
};

/** Everything that plugins register, without a running gateway. */
export async function registryOfPlugins(): Promise<Registry> {
  const silent = createLogger(() => undefined);
  return (await assemble(undefined, silent, notStarted)).registry;
}

/** A metric that `/metrics` can have. */
interface ExposedMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
}

/** What prom-client's metrics and those of the plugin have; only the latter say their type. */
interface ReadMetric {
  readonly name: string;
  readonly labelNames: readonly string[];
  readonly type?: ExposedMetric['type'];
}

export function exposedMetrics(registry: Registry): ExposedMetric[] {
  const metrics = new PromRegistry();
  void new RequestMeters(metrics);
  for (const gauge of registry.gauges.values()) registerGauge(gauge, metrics, notStarted);
  return metrics.getMetricsAsArray().map((metric) => {
    const { name, labelNames, constructor, type } = metric as unknown as ReadMetric;
    return { name, type: type ?? (constructor.name.toLowerCase() as ExposedMetric['type']), labels: labelNames };
  });
}

/** Labels of every series that `/metrics` can have, by its name. */
export function exposedSeries(registry: Registry): ReadonlyMap<string, ReadonlySet<string>> {
  const series = new Map<string, ReadonlySet<string>>();
  for (const { name, type, labels } of exposedMetrics(registry)) {
    for (const part of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      series.set(`${name}${part}`, new Set([...labels, ...(part === '_bucket' ? ['le'] : [])]));
  }
  return series;
}

/** The selectors in a PromQL expression: name and labels that are matched. */
export function selectorsOf(expression: string): { readonly name: string; readonly labels: readonly string[] }[] {
  return [...expression.matchAll(/\b(daypass_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
  }));
}
