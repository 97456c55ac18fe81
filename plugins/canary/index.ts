import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { createStartAction, endAction, fullAction } from './actions.ts';
import { createCanaryPage } from './page.ts';
import reasonsEn from './record/texts/en.json' with { type: 'json' };
import reasonsId from './record/texts/id.json' with { type: 'json' };
import { canaryGauges, rolledBackProblem } from './run/state.ts';
import { createCanarySource } from './source.ts';

/** Tries a new configuration on a share of the accounts, and rolls it back automatically if it is worse. */
export const plugin: GatewayPlugin = {
  name: 'canary',
  register({ gateway }) {
    gateway.texts(defineTexts({ en: reasonsEn, id: reasonsId }));
    gateway.tables({
      name: 'configuration_canary',
      entities: async () => Object.values(await import('./record/entities.ts')),
    });
    gateway.variants(createCanarySource(gateway));
    for (const action of [createStartAction(gateway), fullAction, endAction]) gateway.action(action);
    gateway.page(createCanaryPage(gateway));
    for (const gauge of canaryGauges) gateway.gauge(gauge);
    gateway.problem(rolledBackProblem);
  },
};
