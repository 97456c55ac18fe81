import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { alertsSection } from './alerts-section.ts';
import { sendsMail } from './section.ts';

/** Wakes the sender of customers' mails: one job a second, for any number of events. */
export async function wakeMails(host: Host): Promise<void> {
  if (sendsMail(host.section)) await wakeSender(host, 'send-mails');
}

/** Wakes the sender of alerts to the operator, by mail and webhook. */
export async function wakeAlerts(host: Host): Promise<void> {
  await wakeMails(host);
  if (hasWebhook(host)) await wakeSender(host, 'send-webhooks');
}

export function hasWebhook({ section }: Pick<Host, 'section'>): boolean {
  return section(alertsSection).webhook !== undefined;
}

async function wakeSender(host: Host, name: 'send-mails' | 'send-webhooks'): Promise<void> {
  await host.jobs.add(name, {}, { id: `${name}-${Math.floor(host.now() / 1000)}`, delay: 1 });
}

export const mailRetentionJob: JobDefinition = {
  name: 'remove-old-mails',
  description: 'Deletes mail records older than 90 days.',
  schedule: { pattern: '29 3 * * *' },
  async run(_data, { database }) {
    const { removeOldMails } = await import('./outbox.ts');
    await removeOldMails(database);
  },
};
