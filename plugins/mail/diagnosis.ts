import type { Diagnosis, DiagnosticCheck } from '#core/gateway/diagnosis/diagnosis.ts';
import { checkOrigin } from '#core/gateway/diagnosis/network.ts';
import { alertsSection } from './alerts/section.ts';
import { mailSection } from '#core/business/mail/section.ts';
import { parseSmtpUrl } from '#core/business/mail/smtp-url.ts';

/** Whether the mail server lets the gateway in, without sending a mail, and the webhook of alerts can be reached. */
export const mailDiagnosis: Diagnosis = {
  name: 'mail',
  *checks(host) {
    yield smtpCheck(host.section(mailSection).smtp);
    const { webhook } = host.section(alertsSection);
    if (webhook !== undefined) yield { subject: 'alert webhook', run: (signal) => checkOrigin(webhook.url, signal) };
  },
};

function smtpCheck(url: string | undefined): DiagnosticCheck {
  const server = url === undefined || url === '' ? undefined : parseSmtpUrl(url);
  return {
    subject: 'smtp',
    async run() {
      if (server === undefined)
        return { state: 'skipped', text: 'off: mail.smtp is not set, so customers get no receipts' };
      const { greetServer } = await import('./smtp.ts');
      const error = await greetServer(server);
      if (error === undefined)
        return {
          state: 'ok',
          text: server.user === undefined ? 'answers, without a sign-in' : 'answers and takes the sign-in',
        };
      const advice = error.startsWith('sign in')
        ? 'Correct user and password in `mail: { smtp }`; many servers want an app password.'
        : 'Correct host and port in `mail: { smtp }`, and let this machine reach them: many clouds block port 25.';
      return { state: 'failed', text: error, advice };
    },
  };
}
