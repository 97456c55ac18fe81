import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { isLoopback } from '#core/platform/names/loopback.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';

/** Ms. A server that hangs holds one worker for no longer than `mail`. */
export interface SmtpTimeouts {
  readonly connect: number;
  readonly greeting: number;
  readonly idle: number;
  readonly mail: number;
}

export const smtpTimeouts: SmtpTimeouts = { connect: 10_000, greeting: 10_000, idle: 15_000, mail: 30_000 };

/** A mail, ready to be sent. */
export interface OutgoingMail {
  readonly from: { readonly name: string; readonly address: string };
  readonly replyTo: string | undefined;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Without angle brackets; the same for each try. */
  readonly messageId: string;
}

/**
 * - `refused`: the server will not take this mail, ever.
 * - `later`: it was certainly not taken. `isServer` when other mails would fare the same.
 * - `uncertain`: the connection broke after the mail was transferred and before the server had confirmed it. SMTP cannot tell
 *   whether it was taken, so it is not sent again.
 */
export type SmtpOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused' | 'uncertain'; readonly error: string }
  | { readonly kind: 'later'; readonly error: string; readonly isServer: boolean };

/** Sends one mail over its own connection. Never rejects. */
export async function sendMail(
  server: SmtpServer,
  mail: OutgoingMail,
  timeouts: SmtpTimeouts = smtpTimeouts,
): Promise<SmtpOutcome> {
  // Opened here, as all connections: nodemailer would ask the name servers itself, without hosts file and kept addresses.
  const socket = connect(server.port, server.host);
  const connection = connectionTo(server, timeouts, socket);
  const progress: Progress = { step: 'connect', isTransferred: false };
  const { promise, resolve } = Promise.withResolvers<SmtpOutcome>();
  const fail = (error: unknown) => resolve(judge(error as SmtpFailure, progress));
  const timer = setTimeout(() => fail(new Error(`no end after ${timeouts.mail} ms`)), timeouts.mail);
  // Errors after the end of the conversation, such as a reset while it closes, are without effect.
  socket.on('error', fail);
  connection.on('error', fail);
  connection.on('end', () => fail(new Error('the server closed the connection')));
  const isOpen = withDeadline(once(socket, 'connect'), timeouts.connect, `no connection after ${timeouts.connect} ms`);
  isOpen.then(() => transfer(connection, server, mail, progress)).then(() => resolve({ kind: 'sent' }), fail);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    connection.close();
    socket.destroy();
  }
}

/** Connects and signs in, and sends nothing. Never rejects. @returns what went wrong, beginning with the step */
export async function greetServer(
  server: SmtpServer,
  timeouts: SmtpTimeouts = smtpTimeouts,
): Promise<string | undefined> {
  const socket = connect(server.port, server.host);
  const connection = connectionTo(server, timeouts, socket);
  const progress: Progress = { step: 'connect', isTransferred: false };
  const { promise: failed, reject } = Promise.withResolvers<never>();
  socket.on('error', reject);
  connection.on('error', reject);
  const late = `no connection after ${timeouts.connect} ms`;
  const greeted = withDeadline(once(socket, 'connect'), timeouts.connect, late).then(() =>
    signIn(connection, server, progress),
  );
  try {
    await Promise.race([greeted, failed]);
    return undefined;
  } catch (error) {
    greeted.catch(() => undefined);
    return `${progress.step}: ${describe(error as Error)}`;
  } finally {
    connection.close();
    socket.destroy();
  }
}

interface Progress {
  step: 'connect' | 'sign in' | 'send';
  /** The whole mail has been handed to the connection. */
  isTransferred: boolean;
}

interface SmtpFailure extends Error {
  /** The server's code, if it responded. */
  readonly responseCode?: number;
  /** The command that it has answered. */
  readonly command?: string;
}

function connectionTo({ host, isSecure }: SmtpServer, timeouts: SmtpTimeouts, socket: Socket): SMTPConnection {
  return new SMTPConnection({
    host,
    connection: socket,
    secure: isSecure,
    // Loopback traffic needs no encryption.
    requireTLS: !isSecure && !isLoopback(host),
    ignoreTLS: !isSecure && isLoopback(host),
    connectionTimeout: timeouts.connect,
    greetingTimeout: timeouts.greeting,
    socketTimeout: timeouts.idle,
  });
}

async function transfer(
  connection: SMTPConnection,
  server: SmtpServer,
  mail: OutgoingMail,
  progress: Progress,
): Promise<void> {
  const message = await compile(mail);
  await signIn(connection, server, progress);
  progress.step = 'send';
  const body = Readable.from(read(message, progress));
  await step((done) => connection.send({ from: mail.from.address, to: [mail.to] }, body, (error) => done(error)));
}

async function signIn(connection: SMTPConnection, { user, password }: SmtpServer, progress: Progress): Promise<void> {
  await step((done) => connection.connect((error) => done(error ?? null)));
  progress.step = 'sign in';
  if (user !== undefined)
    await step((done) => connection.login({ credentials: { user, pass: password ?? '' } }, (error) => done(error)));
}

/** The connection reads this only after the server has accepted sender and recipient and asks for the mail. */
async function* read(message: Buffer, progress: Progress): AsyncGenerator<Buffer> {
  yield message;
  progress.isTransferred = true;
}

function step(begin: (done: (error: Error | null) => void) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  begin((error) => (error === null ? resolve() : reject(error)));
  return promise;
}

function compile({ from, replyTo, to, subject, text, html, messageId }: OutgoingMail): Promise<Buffer> {
  const composer = new MailComposer({
    from: { ...from },
    ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
    to: { name: '', address: to },
    subject,
    text,
    html,
    messageId: `<${messageId}>`,
    headers: { 'auto-submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

function judge(failure: SmtpFailure, { step: at, isTransferred }: Progress): SmtpOutcome {
  const error = describe(failure);
  const code = failure.responseCode;
  if (code !== undefined) {
    const isAboutMail = failure.command === 'RCPT TO' || failure.command === 'DATA';
    if (code >= 500 && isAboutMail) return { kind: 'refused', error };
    return { kind: 'later', error, isServer: !isAboutMail };
  }
  if (isTransferred) return { kind: 'uncertain', error };
  return { kind: 'later', error: `${at}: ${error}`, isServer: true };
}

/** One line without e-mail addresses. */
function describe({ message }: Error): string {
  return message
    .replace(/\s+/g, ' ')
    .replace(/[^\s<>]+@[^\s<>]+/g, '…')
    .slice(0, 300);
}
