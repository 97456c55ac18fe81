import { alertsSection } from '#core/business/mail/alerts-section.ts';
import { wakeAlertSenders } from '#core/business/mail/jobs.ts';
import { mailSection } from '#core/business/mail/section.ts';
import { parseSmtpUrl } from '#core/business/mail/smtp-url.ts';
import { exitCodesFor } from '#core/extension/commands/explain-errors.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { mails } from '#core/web/resources/mails.ts';
import { createWatchJob } from './alerts/watch.ts';
import { mailDiagnosis } from './diagnosis.ts';
import { createMailGauges } from './gauges.ts';
import { createMailCheck } from './health.ts';
import { createSendJobs } from './jobs.ts';
import { sendAgainAction, sendAgainWords } from './operator/actions.ts';
import { mailsPage, sendAgainPage } from './operator/pages.ts';
import { undeliveredMails } from './operator/problems.ts';
import { createOneClickRoutes } from './unsubscribe/one-click.ts';
import { unsubscribePage } from './unsubscribe/page.ts';

function describeMail({ section, isProduction }: Pick<Host, 'section' | 'isProduction'>): {
  value: string;
  notice?: string;
} {
  const { smtp = '', from } = section(mailSection);
  const server = parseSmtpUrl(smtp);
  if (server !== undefined) return { value: `from ${from} by ${server.host}:${server.port}` };
  return isProduction ? { value: 'off', notice: mailOffNotice } : { value: 'off' };
}

const mailOffNotice =
  'nobody gets mail about payments, plan ends and sign-ins: mail.smtp is not set; see docs/operating/shop.md';

/** Mails to customers about their orders, plans, sign-ins and keys, and alerts to the operator by mail and webhook. */
export const plugin: GatewayPlugin = {
  name: 'mail',
  register({ gateway }) {
    gateway.section(mailSection);
    gateway.section(alertsSection);
    gateway.configReview({ name: 'mail', describe: describeMail });
    for (const job of [...createSendJobs(gateway), createWatchJob(gateway)]) gateway.job(job);
    gateway.diagnosis(mailDiagnosis);
    gateway.healthCheck(createMailCheck(gateway));
    gateway.resource(mails, {
      description: 'list mails to customers, and send one again',
      exitCodes: exitCodesFor('mail, account or order'),
      examples: ['daypass mail list --undelivered', 'daypass mail list --order ORD-7F3K2MQX'],
      actions: [[sendAgainAction, sendAgainWords]],
    });
    gateway.problem(undeliveredMails);
    for (const page of [unsubscribePage, mailsPage, sendAgainPage]) gateway.page(page);
    gateway.onConfigured((server) => server.route(createOneClickRoutes(() => server.host())));
    for (const gauge of createMailGauges(gateway)) gateway.gauge(gauge);
    gateway.on('day.reported', (_payload, host) => wakeAlertSenders(host));
  },
};
