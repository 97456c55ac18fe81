import { Registry } from 'prom-client';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { mayRead, metricsSection } from './access.ts';
import { prefixMetrics } from './exposition.ts';
import { dependencyGauge, registerGauge } from './gauges.ts';
import { RequestMeters } from './request-meters.ts';

/** `GET /metrics`, in the text format of Prometheus. */
export const plugin: GatewayPlugin = {
  name: 'metrics',
  register(server) {
    const { gateway } = server;
    const metrics = new Registry();
    const meters = new RequestMeters(metrics);
    gateway.section(metricsSection);
    gateway.observer(meters);
    gateway.gauge(meters.runningGauge);
    gateway.gauge(dependencyGauge);
    // Every plugin has registered its gauges by then.
    server.ext('onPreStart', () => {
      for (const gauge of gateway.gauges.values()) registerGauge(gauge, metrics, () => server.host());
    });
    server.route({
      method: 'GET',
      path: '/metrics',
      options: { state: { parse: false } },
      handler: async (request, h) => {
        const host = server.host();
        const { token } = host.section(metricsSection);
        if (mayRead(request, token)) {
          const text = prefixMetrics(await metrics.metrics(), host.service.slug);
          return h.response(text).header('content-type', metrics.contentType);
        }
        if (token === undefined) {
          return h
            .response(
              'Metrics are available from this machine only. Set `metrics.token` to read them from elsewhere.\n',
            )
            .code(403);
        }
        return h
          .response('Send `metrics.token` in the header "Authorization: Bearer".\n')
          .code(401)
          .header('www-authenticate', 'Bearer');
      },
    });
  },
};
