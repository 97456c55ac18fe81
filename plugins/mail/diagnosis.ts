import { alertsSection } from '#core/business/mail/alerts-section.ts';
import { mailSection, findMailServer } from '#core/business/mail/section.ts';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';
import type { Diagnosis, DiagnosisHost } from '#core/gateway/diagnosis/diagnosis.ts';
import { type Finding, ok, skipped } from '#core/gateway/diagnosis/finding.ts';
import { checkOrigin } from '#core/gateway/diagnosis/network.ts';
import type { ProbeFailure } from './smtp-probe.ts';

const loadTrial = () => import('./mail-trial.ts');

const testMailSeconds = 60; // some servers delay the greeting for unknown senders

/**
 * Checks that the mail server accepts mail, up to the recipient and without sending any, and that the alert webhook can be reached. `doctor
 * --mail` also sends a mail and checks the sender's DNS records.
 */
export const mailDiagnosis: Diagnosis = {
  name: 'mail',
  *checks(host) {
    yield { subject: 'smtp', run: (signal) => checkServer(host, signal) };
    const { webhook } = host.section(alertsSection);
    const { mailAddress, seconds = testMailSeconds } = host;
    if (mailAddress !== undefined) {
      yield {
        subject: 'test mail',
        timeout: seconds,
        isAsked: true,
        run: async (signal) => (await loadTrial()).sendTestMail(host, mailAddress, signal),
      };
      for (const subject of ['SPF', 'DMARC', 'DKIM'] as const)
        yield {
          subject,
          isAsked: true,
          run: async (signal) => (await loadTrial()).checkSender(subject, host.section(mailSection), signal),
        };
    }
    if (webhook !== undefined) yield { subject: 'alert webhook', run: (signal) => checkOrigin(webhook.url, signal) };
  },
};

async function checkServer({ section }: DiagnosisHost, signal: AbortSignal): Promise<Finding> {
  const { from = '' } = section(mailSection);
  const server = findMailServer(section);
  if (server === undefined) return skipped('off: mail.smtp is not set, so customers get no receipts');
  const recipient = section(alertsSection).mail || undefined;
  const { probeServer } = await import('./smtp-probe.ts');
  const failure = await probeServer(server, { sender: from, recipient }, signal);
  if (failure !== undefined) return describeFailedProbe(failure, server);
  const acceptance = recipient === undefined ? 'takes the sender' : 'takes mail for alerts.mail';
  const signIn = server.user === undefined ? 'without a sign-in' : 'after the sign-in';
  return ok(`${acceptance}, ${signIn}`);
}

/** A temporary rejection, such as greylisting, is only a warning. */
function describeFailedProbe(failure: ProbeFailure, server: SmtpServer): Finding {
  const { step, error, code = 0 } = failure;
  const isTemporary = code >= 400 && code < 500 && (step === 'sender' || step === 'recipient');
  return { state: isTemporary ? 'warning' : 'failed', text: `${step}: ${error}`, advice: findAdvice(failure, server) };
}

function findAdvice({ step, code = 0, cause, tls }: ProbeFailure, { port, user, host }: SmtpServer): string {
  if (tls === 'certificate')
    return `The certificate of ${host} is not trusted. Use the host name in the certificate, or add its authority to NODE_EXTRA_CA_CERTS.`;
  if (tls === 'unencrypted')
    return `Port ${port} of ${host} does not begin with TLS. Use smtp:// with this port, or smtps:// with the port for TLS, usually 465.`;
  if (tls === 'no starttls')
    return `${host} offers no STARTTLS on port ${port}. Use smtps:// with the port for TLS, usually 465; for a relay on your own network, add its name to mail.allow_without_tls.`;
  if (code === 530 || (step === 'sign in' && code > 0))
    return 'Correct the user and password in `mail: { smtp }`; many servers require an app password.';
  if (step === 'connect' || step === 'sign in')
    return 'Correct the host and port in `mail: { smtp }` (smtps:// for TLS from the first byte, smtp:// for STARTTLS), and make sure that this machine can reach them: many clouds block port 25.';
  if (code < 500)
    return 'The server rejects mail for now, for example because of greylisting or a limit. Mails wait and are retried; check again later.';
  if (step === 'sender')
    return 'Allow this user to send as `mail: { from }` on the server: usually the address or its domain must belong to the account.';
  if (cause === 'recipient') return 'Correct `alerts: { mail }`: the server does not know this address.';
  return user === undefined
    ? 'Sign in with user and password in `mail: { smtp }`, or allow this machine to relay mail on the server.'
    : 'Allow this user to relay mail on the server; its reply names the rule or limit. Mails wait until then.';
}
