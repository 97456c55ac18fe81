import { Counter, Gauge as PromGauge, type Registry } from 'prom-client';
import type { Gauge } from '#core/extension/gauge.ts';
import type { Host } from '#core/host.ts';

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
