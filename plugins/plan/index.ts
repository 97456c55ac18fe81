import { currencySection, plansSection } from '#core/accounts/plans.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { plan } from './stage.ts';

/** What is sold, and the stage that lets in who has bought it. */
export const plugin: GatewayPlugin = {
  name: 'plan',
  register(server) {
    server.gateway.section(plansSection);
    server.gateway.section(currencySection);
    server.gateway.stage(plan);
  },
};
