import { alertsSection } from '#core/business/mail/alerts-section.ts';
import { asciiDomainOf } from '#core/business/mail/ascii-address.ts';
import {
  type Channel,
  claimMessage,
  type ClaimedMessage,
  closeAbandonedTries,
  collectMessages,
  finishMessage,
  type MailState,
} from '#core/business/mail/outbox.ts';
import { mailSection, findMailServer } from '#core/business/mail/section.ts';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { toOneLine } from '#core/platform/one-line.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { composeAlertMail, composeMail, type ComposedMail, type MailSources } from './compose.ts';
import { renderHtml, renderText } from './layout.ts';
import { mailReason } from './mail-reason.ts';
import { Refusals } from './refusals.ts';
import { getReplyAddress } from './reply-address.ts';
import { type SmtpTimeouts, smtpTimeouts } from './smtp-session.ts';
import { type SmtpOutcome, sendMail } from './smtp.ts';

const maxRunMs = 20_000;
const warnIntervalMs = 60_000;
const maxRuns = 2; // each occupies a worker of the job queue, for minutes if a server is slow

/** A server may take minutes for a mail, so a second, concurrent run sends only urgent mails, and a third ends right away. */
export async function sendDueMails(
  host: Host,
  gateway: MailSources,
  timeouts: SmtpTimeouts = smtpTimeouts,
): Promise<void> {
  const server = findMailServer(host.section);
  if (server === undefined) return;
  const runs = host.keep('mail.runs', () => ({ count: 0 }));
  if (runs.count >= maxRuns) return;
  runs.count++;
  try {
    await sendAll(host, gateway, { server, timeouts, isUrgentOnly: runs.count > 1 });
  } finally {
    runs.count--;
  }
}

interface Run {
  readonly server: SmtpServer;
  readonly timeouts: SmtpTimeouts;
  readonly isUrgentOnly: boolean;
}

async function sendAll(host: Host, gateway: MailSources, run: Run): Promise<void> {
  const channels: Channel[] = (host.section(alertsSection).mail ?? '') === '' ? ['customer'] : ['operator', 'customer'];
  await collectMessages(host.database, channels, gateway);
  for (const { eventId, isRepeated } of await closeAbandonedTries(
    host.database,
    mailReason('mail.reason.gateway_stopped'),
  ))
    host.log.warn(
      `the mail about event ${eventId} may not have been sent${isRepeated ? ' and is sent again' : ''}: the gateway stopped while sending it`,
    );
  const refusals = new Refusals<ClaimedMessage>();
  try {
    const startedAt = performance.now();
    while (performance.now() - startedAt < maxRunMs) {
      const mail = await claimMessage(host.database, channels, gateway, run.isUrgentOnly);
      if (mail === undefined || (await sendClaimed(host, gateway, mail, run, refusals))) return;
    }
  } finally {
    for (const { mail, state, error } of refusals.decide()) await finish(host, mail, state, error);
  }
}

/** Returns true if the server would reject other mails too, so the run should end. */
async function sendClaimed(
  host: Host,
  gateway: MailSources,
  mail: ClaimedMessage,
  run: Run,
  refusals: Refusals<ClaimedMessage>,
): Promise<boolean> {
  const composed = await compose(host, gateway, mail).catch((error: unknown) => {
    host.log.error(`the mail about event ${mail.eventId} cannot be composed`, error);
    return undefined;
  });
  if (composed === undefined) {
    await finish(host, mail, 'failed', mailReason('mail.reason.not_composed'));
    return false;
  }
  if (typeof composed === 'string') {
    await finish(host, mail, 'skipped', composed);
    return false;
  }
  const outcome = await deliver(host, mail, composed, run);
  // Rejected mails are decided at the end of the run, because other mails show whether the server or the recipient is the cause.
  if (outcome.kind !== 'refused')
    await finish(host, mail, outcomeStates[outcome.kind], 'error' in outcome ? outcome.error : undefined);
  return refusals.recordOutcome(mail, asciiDomainOf(composed.to), outcome);
}

function compose(host: Host, gateway: MailSources, mail: ClaimedMessage): Promise<ComposedMail | string> {
  return mail.channel === 'customer' ? composeMail(host, gateway, mail) : composeAlertMail(host, gateway, mail);
}

const outcomeStates = { sent: 'sent', uncertain: 'uncertain', later: 'waiting' } as const satisfies Record<
  Exclude<SmtpOutcome['kind'], 'refused'>,
  MailState
>;

async function finish(host: Host, message: ClaimedMessage, attemptState: MailState, error?: string): Promise<void> {
  const state = await finishMessage(host.database, message, attemptState, error);
  const subject = `the mail about event ${message.eventId} (${message.event})`;
  if (state === 'failed') host.log.warn(`${subject} could not be sent and is not retried: ${error}`);
  if (state === 'uncertain') host.log.warn(`${subject} may not have been delivered, and is not sent again: ${error}`);
  if (state === 'waiting' && attemptState === 'uncertain')
    host.log.warn(`${subject} may not have been delivered, and is sent again: ${error}`);
  else if (state === 'waiting' && getWarningThrottle(host).tryPass())
    host.log.warn(`mail cannot be sent; retrying: ${error}`);
}

function getWarningThrottle(host: Host): Throttle {
  return host.keep('mail.warning', () => new Throttle(warnIntervalMs));
}

async function deliver(
  { section, service }: Host,
  { eventId, channel, createdAt }: ClaimedMessage,
  { to, content, unsubscribeUrl }: ComposedMail,
  { server, timeouts }: Run,
): Promise<SmtpOutcome> {
  const { from = '' } = section(mailSection);
  const id = `${service.slug}-${eventId}-${channel === 'customer' ? '' : 'o'}${createdAt.getTime()}`;
  return sendMail(
    server,
    {
      from: { name: service.name, address: from },
      replyTo: getReplyAddress({ section, service }),
      to,
      subject: toOneLine(content.subject),
      text: renderText(content),
      html: renderHtml(content),
      messageId: `${id}@${asciiDomainOf(from)}`,
      unsubscribeUrl,
    },
    timeouts,
  );
}
