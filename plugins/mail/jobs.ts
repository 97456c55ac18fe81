import { hasWebhook } from '#core/business/mail/jobs.ts';
import { sendsMail } from '#core/business/mail/section.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import type { MailSources } from './compose.ts';

/**
 * Events enqueue these jobs, and they run every 20 seconds for messages that were missed or have failed. Mails and webhooks have separate
 * jobs, so that a mail server that is down does not delay webhooks. Only gateways that send messages load the code for it.
 */
export const createSendJobs = (gateway: MailSources): readonly JobDefinition[] => [
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
    description: "Sends alerts to the operator's webhook.",
    schedule: { every: 20 },
    attempts: 1,
    async run(_data, host) {
      if (!hasWebhook(host)) return;
      const { sendDueWebhooks } = await import('./alerts/webhook.ts');
      await sendDueWebhooks(host, gateway);
    },
  },
];
