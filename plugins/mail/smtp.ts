import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import { toAsciiAddress } from '#core/business/mail/ascii-address.ts';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';
import {
  classifyRefusal,
  formatFailure,
  type RefusalCause,
  createRefusalKey,
  type SmtpFailure,
} from './smtp-failure.ts';
import { type SmtpProgress, SmtpSession, type SmtpTimeouts, smtpTimeouts, runStep } from './smtp-session.ts';

export interface OutgoingMail {
  readonly from: { readonly name: string; readonly address: string };
  readonly replyTo: string | undefined;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string; // without angle brackets; the same in each attempt
  readonly unsubscribeUrl?: string | undefined;
}

/**
 * - `refused`: the server rejected this mail permanently.
 * - `later`: the server has certainly not accepted it. `isServer`: other mails would fail now as well.
 * - `uncertain`: the connection broke after the mail was transferred but before the server confirmed it, and SMTP cannot tell whether the
 *   server accepted it.
 */
export type SmtpOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'uncertain'; readonly error: string }
  | { readonly kind: 'later'; readonly error: string; readonly isServer: boolean; readonly refusalKey?: string }
  | {
      readonly kind: 'refused';
      readonly error: string;
      readonly cause: Exclude<RefusalCause, 'server'>;
      readonly refusalKey: string; // shared by identical rejections of different recipients
    };

/** Never rejects. */
export async function sendMail(
  server: SmtpServer,
  mail: OutgoingMail,
  timeouts: SmtpTimeouts = smtpTimeouts,
  signal?: AbortSignal,
): Promise<SmtpOutcome> {
  using session = new SmtpSession(server, timeouts);
  const timer = setTimeout(() => session.fail(new Error(`not finished after ${timeouts.mail} ms`)), timeouts.mail);
  const abort = () => session.fail(new Error('no reply in time'));
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([transfer(session, mail), session.failed]);
    await session.quit();
    return { kind: 'sent' };
  } catch (error) {
    const failure = error as SmtpFailure;
    if (failure.responseCode !== undefined) await session.quit();
    return classifyFailure(failure, session.progress, toAsciiAddress(mail.to));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

async function transfer(session: SmtpSession, mail: OutgoingMail): Promise<void> {
  const message = await compileMessage(mail);
  await session.open();
  const body = Readable.from(readMessage(message, session.progress));
  const envelope = { from: toAsciiAddress(mail.from.address), to: [toAsciiAddress(mail.to)] };
  await runStep((done) => session.connection.send(envelope, body, (error) => done(error)));
}

/** The connection reads the message only after the server has accepted sender and recipient and asks for the mail. */
async function* readMessage(message: Buffer, progress: SmtpProgress): AsyncGenerator<Buffer> {
  yield message;
  progress.isTransferred = true;
}

function compileMessage(mail: OutgoingMail): Promise<Buffer> {
  const { from, replyTo, to, subject, text, html, messageId, unsubscribeUrl } = mail;
  const composer = new MailComposer({
    from: { ...from },
    ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
    to: { name: '', address: to },
    subject,
    text,
    html,
    messageId: `<${messageId}>`,
    headers: {
      'auto-submitted': 'auto-generated',
      ...(unsubscribeUrl !== undefined && createUnsubscribeHeaders(unsubscribeUrl)),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

/** RFC 2369 and, for one click, RFC 8058, which requires HTTPS. */
function createUnsubscribeHeaders(url: string): Record<string, string> {
  return {
    'list-unsubscribe': `<${url}>`,
    ...(url.startsWith('https:') && { 'list-unsubscribe-post': 'List-Unsubscribe=One-Click' }),
  };
}

function classifyFailure(failure: SmtpFailure, { step, isTransferred }: SmtpProgress, recipient: string): SmtpOutcome {
  const error = formatFailure(failure);
  const { responseCode: code, response = '' } = failure;
  if (code === undefined) {
    if (isTransferred) return { kind: 'uncertain', error };
    return { kind: 'later', error: `${step}: ${error}`, isServer: true };
  }
  if (!isAboutMail(failure, step)) return { kind: 'later', error, isServer: true };
  const refusalKey = createRefusalKey(failure, recipient);
  const cause = code < 500 ? 'server' : classifyRefusal(code, response);
  if (cause === 'server') return { kind: 'later', error, isServer: false, refusalKey };
  return { kind: 'refused', error, cause, refusalKey };
}

/**
 * Returns true for a reply to RCPT, DATA or the mail itself. If these were sent in one batch, nodemailer does not say which command a 421
 * was for; a rejected sender always has its command.
 */
function isAboutMail({ command }: SmtpFailure, step: SmtpProgress['step']): boolean {
  return command === 'RCPT TO' || command === 'DATA' || (command === 'CONN' && step === 'send');
}
