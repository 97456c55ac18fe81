import { incidentRetentionJob, watchJob } from '#core/business/model-health/watch.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { createFeedRoutes } from './feeds.ts';
import { createStatusPage } from './page.ts';

/** Monitors models and publishes their status. */
export const plugin: GatewayPlugin = {
  name: 'status',
  register(server) {
    const { gateway } = server;
    gateway.page(createStatusPage(gateway));
    for (const route of createFeedRoutes(gateway, () => server.host())) server.route(route);
    gateway.job(watchJob(gateway, (host) => publishLive(host, 'health')));
    gateway.job(incidentRetentionJob);
  },
};
