import { Counter, Gauge as PromGauge, type Registry } from 'prom-client';
import { noteFailure } from '#core/platform/background.ts';
import type { Gauge } from '#core/gateway/health/gauge.ts';
import type { Host } from '#core/gateway/host/host.ts';

/** Adds a plugin's gauge to the metrics. Each scrape replaces all of its readings, so that removed routes disappear. */
export function registerGauge(gauge: Gauge, metrics: Registry, host: () => Host): void {
  const Metric = gauge.isCounter === true ? Counter : PromGauge;
  const exposed: Counter | PromGauge = new Metric({
    name: gauge.name,
    help: gauge.description,
    labelNames: [...(gauge.labels ?? [])],
    registers: [metrics],
    async collect() {
      exposed.reset();
      // A gauge that fails must not take the other metrics away.
      try {
        for (const { labels = {}, value } of await gauge.read(host())) exposed.inc(labels, value);
      } catch (error) {
        noteFailure(host().log, `the gauge ${gauge.name}`, error);
      }
    },
  });
}
