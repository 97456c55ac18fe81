import { Registry } from 'prom-client';
import type { Gauge } from '#core/gateway/health/gauge.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { prefixMetrics } from './exposition.ts';
import { registerGauge } from './gauges.ts';
import { RequestMeters } from './request-meters.ts';

/** All metrics of this process, in the text format of Prometheus. */
export class Metrics {
  readonly requests: RequestMeters;
  readonly #registry = new Registry();
  readonly #host: () => Host;

  constructor(gauges: Iterable<Gauge>, host: () => Host) {
    this.requests = new RequestMeters(this.#registry);
    this.#host = host;
    for (const gauge of gauges) registerGauge(gauge, this.#registry, host);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async read(): Promise<string> {
    return prefixMetrics(await this.#registry.metrics(), this.#host().service.slug);
  }
}
