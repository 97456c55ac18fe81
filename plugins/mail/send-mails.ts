import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { alertsSection } from './alerts/section.ts';
import { composeAlertMail, composeMail, type ComposedMail } from './compose.ts';
import { oneLine, renderHtml, renderText } from './layout.ts';
import {
  type Channel,
  claimMessage,
  type ClaimedMessage,
  closeAbandoned,
  collectMessages,
  finishMessage,
  type MailState,
} from './outbox.ts';
import { mailSection } from '#core/business/mail/section.ts';
import { parseSmtpUrl } from '#core/business/mail/smtp-url.ts';
import { type SmtpOutcome, sendMail, type SmtpTimeouts, smtpTimeouts } from './smtp.ts';

/** Ms after which a run starts no further mails. */
const longestRun = 20_000;
/** Ms between two warnings about the mail server. */
const warnInterval = 60_000;

/**
 * Sends what is due, one mail after another, so that a mail server that hangs holds one worker of the job queue and no
 * more. Without `mail.smtp` nothing is sent, and nothing waits to be sent later.
 */
export async function sendDueMails(
  host: Host,
  gateway: HealthChecks,
  timeouts: SmtpTimeouts = smtpTimeouts,
): Promise<void> {
  if ((host.section(mailSection).smtp ?? '') === '') return;
  const channels: Channel[] = (host.section(alertsSection).mail ?? '') === '' ? ['customer'] : ['operator', 'customer'];
  await collectMessages(host.database, channels);
  for (const id of await closeAbandoned(host.database))
    host.log.warn(`the mail about event ${id} may not have been sent: the gateway stopped while sending it`);
  const begun = performance.now();
  while (performance.now() - begun < longestRun) {
    const mail = await claimMessage(host.database, channels);
    if (mail === undefined || !(await sendClaimed(host, gateway, mail, timeouts))) return;
  }
}

/** @returns false when the mail server does not work, so that others need not be tried now */
async function sendClaimed(
  host: Host,
  gateway: HealthChecks,
  mail: ClaimedMessage,
  timeouts: SmtpTimeouts,
): Promise<boolean> {
  const composed = await compose(host, gateway, mail).catch((error: unknown) => {
    host.log.error(`the mail about event ${mail.eventId} cannot be composed`, error);
    return undefined;
  });
  if (composed === undefined) return (await finish(host, mail, 'failed', 'it cannot be written'), true);
  if (typeof composed === 'string') return (await finish(host, mail, 'skipped', composed), true);
  const delivery = await deliver(host, mail, composed, timeouts);
  const repeatable = mail.channel === 'operator' && delivery.kind === 'uncertain';
  await finish(
    host,
    mail,
    repeatable ? 'waiting' : states[delivery.kind],
    'error' in delivery ? delivery.error : undefined,
  );
  return delivery.kind !== 'later' || !delivery.isServer;
}

function compose(host: Host, gateway: HealthChecks, mail: ClaimedMessage): Promise<ComposedMail | string> {
  return mail.channel === 'customer' ? composeMail(host, mail) : composeAlertMail(host, gateway, mail);
}

const states = { sent: 'sent', refused: 'failed', uncertain: 'uncertain', later: 'waiting' } as const satisfies Record<
  SmtpOutcome['kind'],
  MailState
>;

async function finish(host: Host, message: ClaimedMessage, tried: MailState, error?: string): Promise<void> {
  const state = await finishMessage(host.database, message, tried, error);
  const subject = `the mail about event ${message.eventId} (${message.event})`;
  if (state === 'failed') host.log.warn(`${subject} could not be sent and is not retried: ${error}`);
  if (state === 'uncertain') host.log.warn(`${subject} may not have been delivered, and is not sent again: ${error}`);
  if (state === 'waiting' && warning(host).pass()) host.log.warn(`mail cannot be sent; retrying: ${error}`);
}

function warning(host: Host): Throttle {
  return host.keep('mail.warning', () => new Throttle(warnInterval));
}

async function deliver(
  { section, service }: Host,
  { eventId, channel, createdAt }: ClaimedMessage,
  { to, content }: ComposedMail,
  timeouts: SmtpTimeouts,
): Promise<SmtpOutcome> {
  const { smtp = '', from = '', reply_to: replyTo } = section(mailSection);
  const server = parseSmtpUrl(smtp);
  if (server === undefined) return { kind: 'later', error: 'mail.smtp is not valid', isServer: true };
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return sendMail(
    server,
    {
      from: { name: service.name, address: from },
      replyTo,
      to,
      subject: oneLine(content.subject),
      text: renderText(content),
      html: renderHtml(content),
      messageId: `${service.slug}-${eventId}-${channel === 'customer' ? '' : 'o'}${createdAt.getTime()}@${domain}`,
    },
    timeouts,
  );
}
