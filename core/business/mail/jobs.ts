import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { wakeJob } from '#core/gateway/host/wake-job.ts';
import { alertsSection } from './alerts-section.ts';
import { sendsMail } from './section.ts';

export async function wakeMailSender(host: Host): Promise<void> {
  if (sendsMail(host.section)) await wakeJob(host, 'send-mails');
}

export async function wakeAlertSenders(host: Host): Promise<void> {
  await wakeMailSender(host);
  if (hasWebhook(host)) await wakeJob(host, 'send-webhooks');
}

export function hasWebhook({ section }: Pick<Host, 'section'>): boolean {
  return section(alertsSection).webhook !== undefined;
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
