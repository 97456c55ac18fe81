import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { rateLimitStage } from './stage.ts';

/** Limits how much each key may send. */
export const plugin: GatewayPlugin = {
  name: 'rate-limit',
  register(server) {
    server.gateway.stage(rateLimitStage);
  },
};
