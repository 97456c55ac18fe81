import { Counter, Gauge as PromGauge, Registry } from 'prom-client';
import type { Gauge } from '#core/gateway/health/gauge.ts';
import type { MetricFamily } from '#core/gateway/health/metric-source.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { noteFailure } from '#core/platform/background.ts';
import { nextPageTurn } from '#core/platform/timing/turn.ts';
import { metricPrefix, RequestMeters } from './request-meters.ts';

const maxReadingsPerTurn = 2_000; // per turn of the event loop; a gauge may have one for each of thousands of routes

export class Metrics {
  readonly requests: RequestMeters;
  readonly #registry = new Registry();
  #reading: Promise<string> | undefined;

  constructor(gauges: Iterable<Gauge>, host: () => Host) {
    this.requests = new RequestMeters(this.#registry);
    for (const gauge of gauges) registerGauge(gauge, this.#registry, host);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Serves consumers other than Prometheus. */
  readFamilies(): Promise<readonly MetricFamily[]> {
    // The types of prom-client are wrong: they declare metric types as numbers, and all values as those of a gauge.
    return this.#registry.getMetricsAsJSON() as unknown as Promise<readonly MetricFamily[]>;
  }

  /** Concurrent callers share one result, because replacing the readings takes several turns of the event loop. */
  readText(): Promise<string> {
    this.#reading ??= this.#registry.metrics().finally(() => (this.#reading = undefined));
    return this.#reading;
  }
}

/** Each scrape replaces all of a gauge's readings, so that removed routes disappear. */
export function registerGauge(gauge: Gauge, metrics: Registry, host: () => Host): void {
  const Metric = gauge.isCounter === true ? Counter : PromGauge;
  const promMetric: Counter | PromGauge = new Metric({
    name: `${metricPrefix}${gauge.name}`,
    help: gauge.description,
    labelNames: [...(gauge.labels ?? [])],
    registers: [metrics],
    async collect() {
      promMetric.reset();
      // A failing gauge must not take the other metrics down with it.
      try {
        let count = 0;
        for (const { labels = {}, value } of await gauge.read(host())) {
          promMetric.inc(labels, value);
          if (++count % maxReadingsPerTurn === 0) await nextPageTurn();
        }
      } catch (error) {
        noteFailure(host().log, `the gauge ${gauge.name}`, error);
      }
    },
  });
}
