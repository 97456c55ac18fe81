import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';
import { waitForFirst, withDeadline } from '#core/platform/timing/deadline.ts';

/** Timeouts in ms. */
export interface SmtpTimeouts {
  readonly connect: number; // to resolve the server's name and connect
  readonly greeting: number; // until the greeting, and for a TLS handshake
  readonly idle: number; // for each reply, including the one that accepts the mail
  readonly mail: number; // for a whole mail; the outbox's lease is longer
}

/**
 * Timeouts of RFC 5321, section 4.5.3.2: servers look up a sender before they greet it, and scan a mail before they accept it. Exim
 * discards a mail if the sender disconnects before the reply.
 */
export const smtpTimeouts: SmtpTimeouts = {
  connect: 30_000,
  greeting: 5 * 60_000,
  idle: 10 * 60_000,
  mail: 16 * 60_000,
};

const quitTimeoutMs = 2_000;

export interface SmtpProgress {
  step: 'connect' | 'sign in' | 'send';
  isTransferred: boolean; // the whole mail has been handed to the connection
}

export class SmtpSession {
  readonly connection: SMTPConnection;
  readonly progress: SmtpProgress = { step: 'connect', isTransferred: false };
  /** Rejects when the connection fails or ends, with the server's last reply if there is one. */
  readonly failed: Promise<never>;
  readonly #server: SmtpServer;
  readonly #socket: Socket;
  readonly #whenConnected: Promise<unknown>;
  readonly #fail: (error: unknown) => void;

  constructor(server: SmtpServer, timeouts: SmtpTimeouts, customAuth?: ConnectionOptions['customAuth']) {
    this.#server = server;
    // Opened like all our connections: nodemailer would query DNS itself, without the hosts file and cached addresses.
    this.#socket = connect(server.port, server.host);
    const { connect: limit } = timeouts;
    this.#whenConnected = withDeadline(once(this.#socket, 'connect'), limit, `no connection after ${limit} ms`);
    this.#whenConnected.catch(() => undefined);
    this.connection = new SMTPConnection({
      ...createOptions(server, timeouts, this.#socket),
      ...(customAuth && { customAuth }),
    });
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.#fail = reject;
    promise.catch(() => undefined);
    // Errors after the end of the conversation, such as a reset while closing, have no effect.
    this.#socket.on('error', reject);
    this.connection.on('error', reject);
    // A 421 reply ends the connection in the same turn in which its command fails. The command's error has the reply, so it must come
    // first.
    this.connection.on('end', () => setImmediate(reject, new Error('the server closed the connection')));
  }

  fail(error: Error): void {
    this.#fail(error);
  }

  async open(): Promise<void> {
    await this.#whenConnected;
    await runStep((done) => this.connection.connect((error) => done(error ?? null)));
    this.progress.step = 'sign in';
    const { user, password = '' } = this.#server;
    if (user !== undefined)
      await runStep((done) => this.connection.login({ credentials: { user, pass: password } }, (error) => done(error)));
    this.progress.step = 'send';
  }

  /** Never rejects. The caller must have received a reply: during DATA, QUIT would become part of the mail. */
  async quit(): Promise<void> {
    if (this.connection.destroyed) return;
    const ended = once(this.connection, 'end').catch(() => undefined);
    this.connection.quit();
    await waitForFirst([ended], quitTimeoutMs);
  }

  [Symbol.dispose](): void {
    this.connection.close();
    this.#socket.destroy();
  }
}

type ConnectionOptions = NonNullable<ConstructorParameters<typeof SMTPConnection>[0]>;

function createOptions(server: SmtpServer, timeouts: SmtpTimeouts, socket: Socket): ConnectionOptions {
  const { host, usesImplicitTls: isSecure } = server;
  // Connections to loopback cannot be intercepted, and certificates there are self-signed. STARTTLS is used if offered, as a server may
  // require it.
  const isPrivate = !isSecure && (isLoopback(host) || server.allowsPlaintext === true);
  return {
    host,
    connection: socket,
    secure: isSecure,
    requireTLS: !isSecure && !isPrivate,
    opportunisticTLS: isPrivate,
    ...(isPrivate && { tls: { rejectUnauthorized: false } }),
    // Also covers the greeting and the TLS handshake, which have timeouts of their own.
    connectionTimeout: timeouts.mail,
    greetingTimeout: timeouts.greeting,
    socketTimeout: timeouts.idle,
  };
}

export function runStep(start: (done: (error: Error | null) => void) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  start((error) => (error === null ? resolve() : reject(error)));
  return promise;
}
