import { alertsSection } from '#core/business/mail/alerts-section.ts';
import { wakeAlertSenders } from '#core/business/mail/jobs.ts';
import { mailSection } from '#core/business/mail/section.ts';
import { parseSmtpUrl } from '#core/business/mail/smtp-url.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { mails } from '#core/web/resources/mails.ts';
import { createWatchJob } from './alerts/watch.ts';
import { mailCommand } from './command.ts';
import { mailDiagnosis } from './diagnosis.ts';
import { createMailGauges } from './gauges.ts';
import { createMailCheck } from './health.ts';
import { createSendJobs } from './jobs.ts';
import { sendAgainAction } from './operator/actions.ts';
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
  'nobody is mailed about payments, ends of plans and sign-ins: mail.smtp is not set; see docs/operating/shop.md';

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
    gateway.command(mailCommand);
    gateway.resource(mails);
    gateway.action(sendAgainAction);
    gateway.problem(undeliveredMails);
    for (const page of [unsubscribePage, mailsPage, sendAgainPage]) gateway.page(page);
    gateway.onConfigured((server) => server.route(createOneClickRoutes(() => server.host())));
    for (const gauge of createMailGauges(gateway)) gateway.gauge(gauge);
    gateway.on('day.reported', (_payload, host) => wakeAlertSenders(host));
  },
};
