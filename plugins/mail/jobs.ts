import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { alertsSection } from './alerts/section.ts';
import { type AlertEvent, alertEvents, type MailedEvent, removeOldMails } from '#core/business/mail/outbox.ts';
import { mailSection } from '#core/business/mail/section.ts';

const hasMail = (host: Host) => (host.section(mailSection).smtp ?? '') !== '';
const hasWebhook = (host: Host) => host.section(alertsSection).webhook !== undefined;

/**
 * Sends what is due. Enqueued by events, and each 20 seconds for what was missed or failed. Mails and webhooks are separate jobs: a
 * mail server that is down delays no webhook. What sends is loaded by gateways that send something.
 *
 * @param gateway whose health checks the daily report names
 */
export const sendJobs = (gateway: HealthChecks): readonly JobDefinition[] => [
  {
    name: 'send-mails',
    description: 'Sends mails about recorded events.',
    schedule: { every: 20 },
    attempts: 1,
    async run(_data, host) {
      if (!hasMail(host)) return;
      const { sendDueMails } = await import('./send-mails.ts');
      await sendDueMails(host, gateway);
    },
  },
  {
    name: 'send-webhooks',
    description: 'Sends alerts to the webhook of the operator.',
    schedule: { every: 20 },
    attempts: 1,
    async run(_data, host) {
      if (!hasWebhook(host)) return;
      const { sendDueWebhooks } = await import('./alerts/webhook.ts');
      await sendDueWebhooks(host, gateway);
    },
  },
];

/** One job of each kind a second, however many events there are. */
export async function wake(host: Host, event: MailedEvent | AlertEvent): Promise<void> {
  const isAlert = alertEvents.some((one) => one === event);
  const names = [...(hasMail(host) ? ['send-mails'] : []), ...(isAlert && hasWebhook(host) ? ['send-webhooks'] : [])];
  for (const name of names) await host.jobs.add(name, {}, { id: `${name}-${Math.floor(host.now() / 1000)}`, delay: 1 });
}

export const mailRetentionJob: JobDefinition = {
  name: 'remove-old-mails',
  description: 'Deletes mail records older than 90 days.',
  schedule: { pattern: '29 3 * * *' },
  async run(_data, { database }) {
    await removeOldMails(database);
  },
};
