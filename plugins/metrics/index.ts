import { Registry } from 'prom-client';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { mayRead, metricsSection } from './access.ts';
import { dependencyGauge, registerGauge } from './gauges.ts';
import { RequestMeters } from './request-meters.ts';

/** `GET /metrics`: what Prometheus, and whatever reads its text format, may know of the gateway. */
export const plugin: GatewayPlugin = {
  name: 'metrics',
  register(server) {
    const { gateway } = server;
    const figures = new Registry();
    const meters = new RequestMeters(figures);
    gateway.section(metricsSection);
    gateway.observer(meters);
    gateway.gauge(meters.runningGauge);
    gateway.gauge(dependencyGauge);
    // Every plugin has registered by then.
    server.ext('onPreStart', () => {
      for (const gauge of gateway.gauges.values()) registerGauge(gauge, figures, () => server.host());
    });
    server.route({
      method: 'GET',
      path: '/metrics',
      options: { state: { parse: false } },
      handler: async (request, h) => {
        const { token } = server.host().section(metricsSection);
        if (mayRead(request, token)) {
          return h.response(await figures.metrics()).header('content-type', figures.contentType);
        }
        if (token === undefined) {
          return h.response('metrics are for this machine only, unless metrics.token is set\n').code(403);
        }
        return h
          .response('send the token of metrics.token as a bearer\n')
          .code(401)
          .header('www-authenticate', 'Bearer');
      },
    });
  },
};
