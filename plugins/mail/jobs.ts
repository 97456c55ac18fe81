import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { removeOldMails } from './outbox.ts';
import { mailSection } from './section.ts';

/** Sends what is due. Enqueued by events, and each 20 seconds for what was missed or failed. */
export const sendJob: JobDefinition = {
  name: 'send-mails',
  description: 'Sends mails about recorded events.',
  schedule: { every: 20 },
  attempts: 1,
  async run(_data, host) {
    // Composer and SMTP are loaded by gateways that send mails.
    if ((host.section(mailSection).smtp ?? '') === '') return;
    const { sendDueMails } = await import('./send-mails.ts');
    await sendDueMails(host);
  },
};

/** One job a second, however many events there are. */
export async function wake(host: Host): Promise<void> {
  if ((host.section(mailSection).smtp ?? '') === '') return;
  await host.jobs.add('send-mails', {}, { id: `send-mails-${Math.floor(host.now() / 1000)}`, delay: 1 });
}

export const mailRetentionJob: JobDefinition = {
  name: 'remove-old-mails',
  description: 'Deletes mail records older than 90 days.',
  schedule: { pattern: '29 3 * * *' },
  async run(_data, { database }) {
    await removeOldMails(database);
  },
};
