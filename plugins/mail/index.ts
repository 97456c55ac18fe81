import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { mailRetentionJob, sendJob, wake } from './jobs.ts';
import { mailedEvents } from './outbox.ts';
import { mailSection } from './section.ts';

/** Mails to customers about their orders, plans, sign-ins and keys. */
export const plugin: GatewayPlugin = {
  name: 'mail',
  register({ gateway }) {
    gateway.section(mailSection);
    gateway.tables({ name: 'mail_message', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.job(sendJob);
    gateway.job(mailRetentionJob);
    for (const event of mailedEvents) gateway.on(event, (_payload, host) => wake(host));
  },
};
