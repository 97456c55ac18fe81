import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { readAllowance } from './allowance.ts';
import { rateLimitStage } from './stage.ts';

/** Limits the requests of each key. */
export const plugin: GatewayPlugin = {
  name: 'rate-limit',
  register(server) {
    server.gateway.stage(rateLimitStage);
    server.gateway.allowance(readAllowance);
  },
};
