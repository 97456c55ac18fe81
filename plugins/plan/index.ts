import { currencySection, plansSection } from '#core/business/accounts/plans.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { planStage } from './stage.ts';

/** The plans for sale, and the stage that requires an active plan. */
export const plugin: GatewayPlugin = {
  name: 'plan',
  register(server) {
    server.gateway.section(plansSection);
    server.gateway.section(currencySection);
    server.gateway.stage(planStage);
  },
};
