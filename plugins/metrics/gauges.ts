import { Counter, Gauge as PromGauge, type Registry } from 'prom-client';
import { checkDependencies } from '#core/http/dependencies.ts';
import type { Gauge } from '#core/extension/gauge.ts';
import type { Host } from '#core/host.ts';

/** Whether database and shared state answer; each scrape asks them. */
export const dependencyGauge: Gauge = {
  name: 'dependency_up',
  description: '1 when a dependency responds, 0 when it does not.',
  labels: ['dependency'],
  async read(host) {
    const checks = await checkDependencies(host);
    return checks.map(({ name, ok }) => ({ value: ok ? 1 : 0, labels: { dependency: name.replaceAll(' ', '_') } }));
  },
};

/** Adds a plugin's gauge to the metrics. Each scrape replaces all of its readings, so that removed routes disappear. */
export function registerGauge(gauge: Gauge, metrics: Registry, host: () => Host): void {
  const Metric = gauge.isCounter === true ? Counter : PromGauge;
  const exposed: Counter | PromGauge = new Metric({
    name: gauge.name,
    help: gauge.description,
    labelNames: [...(gauge.labels ?? [])],
    registers: [metrics],
    async collect() {
      const readings = await readGauge(gauge, host());
      exposed.reset();
      for (const { labels = {}, value } of readings) exposed.inc(labels, value);
    },
  });
}

/** The readings of a gauge; none when it fails, which must not take the other metrics away. */
async function readGauge(gauge: Gauge, host: Host) {
  try {
    return await gauge.read(host);
  } catch (error) {
    host.log.error(`gauge ${gauge.name} failed`, error);
    return [];
  }
}
