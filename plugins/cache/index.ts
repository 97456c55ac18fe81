import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { cacheStage } from './stage.ts';

/** Answers that clients ask to be kept. */
export const plugin: GatewayPlugin = {
  name: 'cache',
  register(server) {
    server.gateway.stage(cacheStage);
  },
};
