import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { type OutgoingMail, sendMail } from '../../../plugins/mail/smtp.ts';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';
import { closedPort } from '../../support/dead-ends.ts';
import { testCertificate, testKey, trustTestCertificate } from '../../support/tls-upstream.ts';
import { startMailServer } from './fixture.ts';

/** Longer than any pause of a busy machine. */
const timeouts = { connect: 30_000, greeting: 30_000, idle: 30_000, mail: 30_000 };
/** For servers that send nothing. */
const short = { ...timeouts, greeting: 500, idle: 500 };
const mail: OutgoingMail = {
  from: { name: 'Daypass', address: 'no-reply@gateway.example' },
  replyTo: undefined,
  to: 'ani@example.com',
  subject: 'Receipt',
  text: 'paid',
  html: '<p>paid</p>',
  messageId: 'daypass-1-2@gateway.example',
};
const serverAt = (port: number, more: Partial<SmtpServer> = {}): SmtpServer => ({
  host: '127.0.0.1',
  port,
  isSecure: false,
  user: undefined,
  password: undefined,
  ...more,
});
const refuse = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code });

/** A server that says one line for each line it gets, and then what `then` does. */
async function startScript(lines: readonly string[], then: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const rest = [...lines];
    const answer = () => {
      const line = rest.shift();
      if (line === undefined) then(socket);
      else socket.write(`${line}\r\n`);
    };
    socket.on('data', answer);
    answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a mail', () => {
  it('arrives with both of its forms and a message id that stays', async () => {
    await using server = await startMailServer();
    expect(await sendMail(serverAt(server.port), mail, timeouts)).toEqual({ kind: 'sent' });
    expect(server.received).toMatchObject([{ to: ['ani@example.com'], from: 'no-reply@gateway.example' }]);
    const raw = server.received[0]?.raw ?? '';
    expect(raw).toContain('Message-ID: <daypass-1-2@gateway.example>');
    expect(raw).toContain('Auto-Submitted: auto-generated');
    expect(raw).toMatch(/multipart\/alternative/);
  });

  it('cannot gain a header or a recipient by a name, a subject or an address', async () => {
    await using server = await startMailServer();
    const evil = 'x\r\nBcc: victim@example.com';
    await sendMail(
      serverAt(server.port),
      {
        ...mail,
        subject: evil,
        from: { ...mail.from, name: evil },
        to: 'ani@example.com\r\nRCPT TO:<victim@example.com>',
      },
      timeouts,
    );
    await sendMail(serverAt(server.port), { ...mail, subject: evil, from: { ...mail.from, name: evil } }, timeouts);
    expect(server.received.flatMap(({ to }) => to)).not.toContain('victim@example.com');
    for (const { raw } of server.received) expect(raw).not.toMatch(/^Bcc:/im);
  });

  it('signs in with user and password, over a connection of this machine', async () => {
    const seen: string[] = [];
    await using server = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, done) {
        seen.push(`${username} ${password}`);
        done(null, { user: 'u' });
      },
    });
    const account = serverAt(server.port, { user: 'user', password: 'p@ss:word/' });
    expect(await sendMail(account, mail, timeouts)).toEqual({ kind: 'sent' });
    expect(seen).toEqual(['user p@ss:word/']);
  });

  it('finds its server as all connections do, and checks its certificate by name', async () => {
    const lookup = vi.spyOn(dns, 'lookup');
    const distrust = trustTestCertificate();
    try {
      await using server = await startMailServer({ secure: true, key: testKey, cert: testCertificate });
      lookup.mockClear();
      const tls = serverAt(server.port, { host: 'localhost', isSecure: true });
      expect(await sendMail(tls, mail, timeouts)).toEqual({ kind: 'sent' });
      expect(lookup.mock.calls.map(([hostname]) => hostname)).toEqual(['localhost']);
    } finally {
      distrust();
      lookup.mockRestore();
    }
  });

  it('may be tried later when the name of its server cannot be resolved in time', async () => {
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(() => undefined);
    const server = serverAt(25, { host: 'mail.example' });
    const outcome = await sendMail(server, mail, { ...timeouts, connect: 50 });
    lookup.mockRestore();
    expect(outcome).toEqual({ kind: 'later', isServer: true, error: 'connect: no connection after 50 ms' });
  });
});

describe('a mail that the server does not take', () => {
  it('is refused when its recipient does not exist, without the address in the error', async () => {
    await using server = await startMailServer({
      onRcptTo: ({ address }, _session, done) => done(refuse(550, `<${address}> unknown user`)),
    });
    const delivery = await sendMail(serverAt(server.port), mail, timeouts);
    expect(delivery).toMatchObject({ kind: 'refused', error: expect.stringContaining('unknown user') });
    expect(JSON.stringify(delivery)).not.toContain('ani@example.com');
  });

  it('may be tried later when the server says so', async () => {
    await using server = await startMailServer({ onRcptTo: (_to, _session, done) => done(refuse(450, 'greylisted')) });
    expect(await sendMail(serverAt(server.port), mail, timeouts)).toMatchObject({ kind: 'later', isServer: false });
  });

  it('may be tried later when the password is wrong, as all others', async () => {
    await using server = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(refuse(535, 'bad credentials')),
    });
    const account = serverAt(server.port, { user: 'user', password: 'wrong' });
    expect(await sendMail(account, mail, timeouts)).toMatchObject({ kind: 'later', isServer: true });
  });

  it('may be tried later when nothing listens', async () => {
    expect(await sendMail(serverAt(await closedPort()), mail, timeouts)).toMatchObject({
      kind: 'later',
      isServer: true,
    });
  });

  it('may be tried later when the server never greets', async () => {
    await using server = await startScript([''], () => undefined);
    expect(await sendMail(serverAt(server.port), mail, short)).toMatchObject({ kind: 'later', isServer: true });
  });

  it.each([
    ['after its greeting', ['220 hello']],
    ['after the sender', ['220 hello', '250 hello', '250 ok']],
    ['when it is asked to take the mail', ['220 hello', '250 hello', '250 ok', '250 ok']],
  ])('may be tried later when the server closes the connection %s', async (_name, lines) => {
    await using server = await startScript(lines, (socket) => socket.destroy());
    expect(await sendMail(serverAt(server.port), mail, timeouts)).toMatchObject({ kind: 'later', isServer: true });
  });

  it.each<[string, (socket: Socket) => void]>([
    ['closes the connection', (socket) => void socket.destroy()],
    ['hangs', () => undefined],
  ])('is uncertain when the server %s after the transfer', async (_name, then) => {
    await using server = await startScript(['220 hello', '250 hello', '250 ok', '250 ok', '354 go on'], then);
    const begun = performance.now();
    expect(await sendMail(serverAt(server.port), mail, short)).toMatchObject({ kind: 'uncertain' });
    expect(performance.now() - begun).toBeLessThan(timeouts.mail / 2);
  });
});
