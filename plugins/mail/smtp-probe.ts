import { toAsciiAddress } from '#core/business/mail/ascii-address.ts';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';
import { classifyRefusal, formatFailure, type RefusalCause, type SmtpFailure } from './smtp-failure.ts';
import { SmtpSession, smtpTimeouts, runStep } from './smtp-session.ts';

type ProbeStep = 'connect' | 'sign in' | 'sender' | 'recipient';

export interface ProbeFailure {
  readonly step: ProbeStep;
  readonly error: string; // on one line, without addresses
  readonly code: number | undefined; // of the reply; undefined without one
  readonly cause: RefusalCause | undefined;
  /** `certificate`: not trusted. `unencrypted`: the server does not start with TLS. `no starttls`: STARTTLS is not offered. */
  readonly tls: 'certificate' | 'unencrypted' | 'no starttls' | undefined;
}

/** Sends no mail: the conversation ends before DATA, or after the sender if there is no recipient. Returns undefined on success. */
export async function probeServer(
  server: SmtpServer,
  { sender, recipient }: { readonly sender: string; readonly recipient: string | undefined },
  signal?: AbortSignal,
): Promise<ProbeFailure | undefined> {
  let currentStep: ProbeStep | undefined;
  // nodemailer can send single commands only from a sign-in handler, so a second "sign-in" sends the envelope.
  const envelope: AuthHandler = async ({ sendCommand }) => {
    currentStep = 'sender';
    requirePositive(await sendCommand(`MAIL FROM:<${toAsciiAddress(sender)}>`));
    if (recipient === undefined) return;
    currentStep = 'recipient';
    requirePositive(await sendCommand(`RCPT TO:<${toAsciiAddress(recipient)}>`));
  };
  using session = new SmtpSession(server, smtpTimeouts, { ENVELOPE: envelope });
  const abort = () => session.fail(new Error('no reply in time'));
  signal?.addEventListener('abort', abort, { once: true });
  const converse = async () => {
    await session.open();
    await runStep((done) => session.connection.login({ method: 'ENVELOPE' }, (error) => done(error)));
  };
  try {
    await Promise.race([converse(), session.failed]);
    await session.quit();
    return undefined;
  } catch (error) {
    const failure = error as SmtpFailure;
    if (failure.responseCode !== undefined) await session.quit();
    return describeProbe(failure, currentStep ?? (session.progress.step === 'connect' ? 'connect' : 'sign in'));
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

type AuthHandler = NonNullable<ConstructorParameters<typeof SmtpSession>[2]>[string];

/** nodemailer adds the reply to the error. */
function requirePositive({ status }: { readonly status: number }): void {
  if (status < 200 || status >= 300) throw new Error('refused');
}

function describeProbe(failure: SmtpFailure, failedStep: ProbeStep): ProbeFailure {
  const { responseCode: code, response = '' } = failure;
  return {
    step: failedStep,
    error: formatFailure(failure),
    code,
    cause: code === undefined ? undefined : code < 500 ? 'server' : classifyRefusal(code, response),
    tls: classifyTlsError(failure),
  };
}

function classifyTlsError(
  failure: SmtpFailure & { readonly code?: string; readonly originalCode?: string },
): ProbeFailure['tls'] {
  const { message, responseCode } = failure;
  if (/STARTTLS/.test(message) && responseCode !== undefined) return 'no starttls';
  const codes = `${failure.code} ${failure.originalCode} ${message}`;
  if (/WRONG_VERSION_NUMBER|wrong version number|packet length too long|EPROTO\b/i.test(codes)) return 'unencrypted';
  if (/CERT|SIGNATURE|self-signed|altnames|unable to (verify|get)/i.test(codes)) return 'certificate';
  return undefined;
}
