import { Registry } from 'prom-client';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { prefixMetrics } from './exposition.ts';
import { dependencyGauge, registerGauge } from './gauges.ts';
import { RequestMeters } from './request-meters.ts';

/** `GET /metrics` of the operator's listener, in the text format of Prometheus. */
export const plugin: GatewayPlugin = {
  name: 'metrics',
  register(server) {
    const { gateway } = server;
    const metrics = new Registry();
    const meters = new RequestMeters(metrics);
    gateway.observer(meters);
    gateway.gauge(meters.runningGauge);
    gateway.gauge(dependencyGauge);
    // Every plugin has registered its gauges by then.
    server.ext('onPreStart', () => {
      for (const gauge of gateway.gauges.values()) registerGauge(gauge, metrics, () => server.host());
    });
    gateway.operatorRoute({
      method: 'GET',
      path: '/metrics',
      options: { state: { parse: false } },
      handler: async (_request, h) => {
        const text = prefixMetrics(await metrics.metrics(), server.host().service.slug);
        return h.response(text).header('content-type', metrics.contentType);
      },
    });
  },
};
