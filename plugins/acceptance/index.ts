import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { retention } from './jobs.ts';
import { createVersionPage } from './page.ts';
import { acceptances } from './resource.ts';
import { createAcceptanceStep } from './step.ts';
import { readAcceptanceTimeline } from './timeline.ts';

/** By paying, buyers accept the terms. Records who accepted which version, and when. */
export const plugin: GatewayPlugin = {
  name: 'acceptance',
  register({ gateway }) {
    gateway.tables({ name: 'acceptance', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.checkoutStep(createAcceptanceStep(gateway));
    gateway.page(createVersionPage(gateway));
    gateway.story(readAcceptanceTimeline);
    gateway.job(retention);
    gateway.resource(acceptances, {
      description: 'list which versions of the terms buyers have accepted',
      examples: ['daypass acceptance list', 'daypass acceptance list --order ORD-7F3K2MQX'],
    });
  },
};
