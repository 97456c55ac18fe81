import { asciiAddress } from '#core/business/mail/ascii-address.ts';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';
import { causeOf, describeFailure, type RefusalCause, type SmtpFailure } from './smtp-failure.ts';
import { SmtpSession, smtpTimeouts, step } from './smtp-session.ts';

type ProbeStep = 'connect' | 'sign in' | 'sender' | 'recipient';

/** Reason why the server takes no mail. */
export interface ProbeFailure {
  readonly step: ProbeStep;
  /** One line, without addresses. */
  readonly error: string;
  /** Code of the server's reply, and what it is about; undefined without a reply. */
  readonly code: number | undefined;
  readonly cause: RefusalCause | undefined;
  /** `certificate`: it is not trusted. `unencrypted`: the server does not begin with TLS. `no starttls`: it does not offer it. */
  readonly tls: 'certificate' | 'unencrypted' | 'no starttls' | undefined;
}

/**
 * Asks a mail server whether it takes mail from the sender for the recipient, and sends none: the conversation ends before DATA.
 *
 * @param recipient undefined: it ends after the sender
 * @param signal ends it early
 * @returns undefined if the server takes it
 */
export async function probeServer(
  server: SmtpServer,
  { sender, recipient }: { readonly sender: string; readonly recipient: string | undefined },
  signal?: AbortSignal,
): Promise<ProbeFailure | undefined> {
  let at: ProbeStep | undefined;
  // nodemailer has no method for single commands but the handler of a sign-in, which a second "sign-in" lends.
  const envelope: AuthHandler = async ({ sendCommand }) => {
    at = 'sender';
    accept(await sendCommand(`MAIL FROM:<${asciiAddress(sender)}>`));
    if (recipient === undefined) return;
    at = 'recipient';
    accept(await sendCommand(`RCPT TO:<${asciiAddress(recipient)}>`));
  };
  using session = new SmtpSession(server, smtpTimeouts, { ENVELOPE: envelope });
  const leave = () => session.fail(new Error('no reply in time'));
  signal?.addEventListener('abort', leave, { once: true });
  const ask = async () => {
    await session.open();
    await step((done) => session.connection.login({ method: 'ENVELOPE' }, (error) => done(error)));
  };
  try {
    await Promise.race([ask(), session.failed]);
    await session.quit();
    return undefined;
  } catch (error) {
    const failure = error as SmtpFailure;
    if (failure.responseCode !== undefined) await session.quit();
    return describeProbe(failure, at ?? (session.progress.step === 'connect' ? 'connect' : 'sign in'));
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

type AuthHandler = NonNullable<ConstructorParameters<typeof SmtpSession>[2]>[string];

/** @throws Error on a negative reply; nodemailer adds it */
function accept({ status }: { readonly status: number }): void {
  if (status < 200 || status >= 300) throw new Error('refused');
}

function describeProbe(failure: SmtpFailure, at: ProbeStep): ProbeFailure {
  const { responseCode: code, response = '' } = failure;
  return {
    step: at,
    error: describeFailure(failure),
    code,
    cause: code === undefined ? undefined : code < 500 ? 'server' : causeOf(code, response),
    tls: tlsFault(failure),
  };
}

function tlsFault(
  failure: SmtpFailure & { readonly code?: string; readonly originalCode?: string },
): ProbeFailure['tls'] {
  const { message, responseCode } = failure;
  if (/STARTTLS/.test(message) && responseCode !== undefined) return 'no starttls';
  const codes = `${failure.code} ${failure.originalCode} ${message}`;
  if (/WRONG_VERSION_NUMBER|wrong version number|packet length too long|EPROTO\b/i.test(codes)) return 'unencrypted';
  if (/CERT|SIGNATURE|self-signed|altnames|unable to (verify|get)/i.test(codes)) return 'certificate';
  return undefined;
}
