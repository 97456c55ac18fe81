import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { authStage } from './stage.ts';

/** Identifies callers by their API keys. */
export const plugin: GatewayPlugin = {
  name: 'auth',
  register(server) {
    server.gateway.stage(authStage);
  },
};
