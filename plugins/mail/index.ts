import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { alertsSection } from './alerts/section.ts';
import { watchJob } from './alerts/watch.ts';
import { mailGauges } from './gauges.ts';
import { mailRetentionJob, sendJobs, wake } from './jobs.ts';
import { alertEvents, mailedEvents } from './outbox.ts';
import { mailSection } from './section.ts';

/** Mails to customers about their orders, plans, sign-ins and keys, and alerts to the operator by mail and webhook. */
export const plugin: GatewayPlugin = {
  name: 'mail',
  register({ gateway }) {
    gateway.section(mailSection);
    gateway.section(alertsSection);
    gateway.tables({ name: 'mail_message', entities: async () => [(await import('./entities.ts')).MailMessage] });
    for (const job of [...sendJobs(gateway), watchJob, mailRetentionJob]) gateway.job(job);
    for (const gauge of mailGauges) gateway.gauge(gauge);
    for (const event of [...mailedEvents, ...alertEvents])
      gateway.on(event, (_payload: unknown, host) => wake(host, event));
  },
};
