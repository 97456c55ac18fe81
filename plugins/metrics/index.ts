import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { dependencyGauge, healthGauge } from './health-gauges.ts';
import type { Metrics } from './metrics.ts';

/** `GET /metrics` of the operator's listener, in the text format of Prometheus. */
export const plugin: GatewayPlugin = {
  name: 'metrics',
  register(server) {
    const { gateway } = server;
    let metrics: Metrics | undefined;
    gateway.observer({
      name: 'metrics',
      start: () => metrics?.requests.start(),
      done: (exchange, outcome) => metrics?.requests.done(exchange, outcome),
    });
    gateway.gauge({
      name: 'requests_running',
      description: 'Requests in flight.',
      read: () => [{ value: metrics?.requests.running ?? 0 }],
    });
    gateway.gauge(dependencyGauge);
    gateway.gauge(healthGauge(gateway));
    // Before the first request. Every plugin has registered its gauges by then, and commands that serve nothing do not
    // load what counts.
    server.ext('onPreStart', async () => {
      const { Metrics } = await import('./metrics.ts');
      metrics = new Metrics(gateway.gauges.values(), () => server.host());
    });
    gateway.operatorRoute({
      method: 'GET',
      path: '/metrics',
      options: { state: { parse: false } },
      handler: async (_request, h) => {
        if (metrics === undefined) throw new Error('the server has not started');
        return h.response(await metrics.read()).header('content-type', metrics.contentType);
      },
    });
  },
};
