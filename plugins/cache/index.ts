import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { cacheStage } from './stage.ts';

/** Caches replies at a client's request. */
export const plugin: GatewayPlugin = {
  name: 'cache',
  register(server) {
    server.gateway.stage(cacheStage);
  },
};
