import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { consentsPage } from './own-page.ts';
import { consents } from './resource.ts';
import { consentsSection } from './section.ts';
import { consentStep } from './step.ts';
import { readConsentTimeline } from './timeline.ts';

/** Consent checkboxes, records of the words consented to, and the list of accounts that may be contacted. */
export const plugin: GatewayPlugin = {
  name: 'consents',
  register({ gateway }) {
    gateway.section(consentsSection);
    gateway.tables({ name: 'consent', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.checkoutStep(consentStep);
    gateway.page(consentsPage);
    gateway.story(readConsentTimeline);
    gateway.resource(consents, {
      description: 'list accounts that have given a consent declared in gateway.yaml',
      examples: ['daypass consent list --name news', 'daypass consent list --name news --json'],
    });
  },
};
