import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { register as registerHome } from './home/index.ts';
import { register as registerModels } from './models/index.ts';
import { register as registerRequests } from './requests/index.ts';
import { dashboardSection } from './section.ts';
import { register as registerTry } from './try/index.ts';

/** Pages about usage, for the signed-in account. */
export const plugin: GatewayPlugin = {
  name: 'dashboard',
  register(server) {
    server.gateway.section(dashboardSection);
    registerHome(server);
    registerRequests(server);
    registerModels(server);
    registerTry(server);
  },
};
