import { hasWebhook } from '#core/business/mail/jobs.ts';
import { sendsMail } from '#core/business/mail/section.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import type { MailSources } from './compose.ts';

/**
 * Sends what is due. Enqueued by events, and each 20 seconds for what was missed or failed. Mails and webhooks are separate jobs: a
 * mail server that is down delays no webhook. What sends is loaded by gateways that send something.
 *
 * @param gateway with the kinds of mails, and the health checks that the daily report names
 */
export const sendJobs = (gateway: MailSources): readonly JobDefinition[] => [
  {
    name: 'send-mails',
    description: 'Sends mails about recorded events.',
    schedule: { every: 20 },
    attempts: 1,
    async run(_data, host) {
      if (!sendsMail(host.section)) return;
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
