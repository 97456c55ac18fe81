import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { rateLimitStage } from './stage.ts';

/** How much a key may send. */
export const plugin: GatewayPlugin = {
  name: 'rate-limit',
  register(server) {
    server.gateway.stage(rateLimitStage);
  },
};
