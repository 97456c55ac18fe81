import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { cacheStage } from './stage.ts';

/** Caches replies if the client asks for it. */
export const plugin: GatewayPlugin = {
  name: 'cache',
  register(server) {
    server.gateway.stage(cacheStage);
  },
};
