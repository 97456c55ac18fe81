import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';
import { type OutgoingMail, sendMail } from '../../../plugins/mail/smtp.ts';
import { closedPort } from '../../support/dead-ends.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { testCertificate, testKey, trustTestCertificate } from '../../support/tls-upstream.ts';
import { type Script, startScriptedServer } from './scripted-server.ts';

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
  usesImplicitTls: false,
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
      const tls = serverAt(server.port, { host: 'localhost', usesImplicitTls: true });
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

const pipelining = '250-hello\r\n250 PIPELINING';

describe('a 421, with which a server closes the connection', () => {
  it.each([
    ['to the mail', {}, 'dot', false],
    ['to the mail', { EHLO: pipelining }, 'dot', false],
    ['to DATA', {}, 'DATA', false],
    ['to DATA', { EHLO: pipelining }, 'DATA', false],
    ['to the recipient', {}, 'RCPT', false],
    ['to the recipient', { EHLO: pipelining }, 'RCPT', false],
    ['to the sender', {}, 'MAIL', true],
    ['to the sender', { EHLO: pipelining }, 'MAIL', true],
    ['to the hello', {}, 'EHLO', true],
    ['as greeting', {}, 'greeting', true],
  ] as const)('%s (%j) means later, with its words', async (_name, script, command, isServer) => {
    await using server = await startScriptedServer({
      ...script,
      [command]: { last: '421 4.7.28 too fast, try later' },
    });
    expect(await sendMail(serverAt(server.port), mail, timeouts)).toMatchObject({
      kind: 'later',
      isServer,
      error: expect.stringContaining('421 4.7.28 too fast, try later'),
    });
  });

  it('some seconds after which it does so, means later as well', async () => {
    await using server = await startScriptedServer({ dot: '421 4.7.28 too fast, try later' });
    expect(await sendMail(serverAt(server.port), mail, timeouts)).toMatchObject({ kind: 'later', isServer: false });
  });
});

describe('a mail that was taken', () => {
  it('is sent even if the server then hangs up at once', async () => {
    await using server = await startScriptedServer({ dot: { last: '250 taken' } });
    expect(await sendMail(serverAt(server.port), mail, timeouts)).toEqual({ kind: 'sent' });
  });

  it.each<[string, Script]>([
    ['with', {}],
    ['without', { QUIT: () => undefined }],
  ])('is followed by QUIT, %s a reply', async (_name, script) => {
    await using server = await startScriptedServer(script);
    expect(await sendMail(serverAt(server.port), mail, timeouts)).toEqual({ kind: 'sent' });
    expect(server.lines.at(-1)).toBe('QUIT');
  });
});

describe('an address with letters beyond ASCII', () => {
  it('goes out with its domain in Punycode, as sender and as recipient', async () => {
    await using server = await startScriptedServer({});
    const from = { name: 'Daypass', address: 'no-reply@bücher.example' };
    await sendMail(serverAt(server.port), { ...mail, from, to: 'ani@münchen.example' }, timeouts);
    expect(server.lines.slice(1, 3)).toEqual([
      'MAIL FROM:<no-reply@xn--bcher-kva.example>',
      'RCPT TO:<ani@xn--mnchen-3ya.example>',
    ]);
  });

  it('leaves no letter of it in an error that echoes it in pieces', async () => {
    await using server = await startScriptedServer({
      RCPT: '550 5.1.1 <jC<rgen@m\u00fcnchen.example>... User unknown',
    });
    const outcome = await sendMail(serverAt(server.port), { ...mail, to: 'jürgen@münchen.example' }, timeouts);
    expect(outcome).toMatchObject({ kind: 'refused', cause: 'recipient' });
    expect(JSON.stringify(outcome)).not.toMatch(/rgen|jC|nchen/);
  });
});

describe('a mail about news', () => {
  it.each([
    ['https://gateway.example/u', true],
    ['http://localhost:8080/u', false],
  ])('names where to unsubscribe, %s', async (unsubscribeUrl, isOneClick) => {
    await using server = await startScriptedServer({});
    await sendMail(serverAt(server.port), { ...mail, unsubscribeUrl }, timeouts);
    expect(server.mails[0]).toContain(`List-Unsubscribe: <${unsubscribeUrl}>`);
    expect(server.mails[0]?.includes('List-Unsubscribe-Post: List-Unsubscribe=One-Click')).toBe(isOneClick);
  });
});

describe('STARTTLS', () => {
  const secure = { key: testKey, cert: testCertificate, disabledCommands: [], allowInsecureAuth: false };

  it('is used on this machine where it is offered, without verifying the certificate', async () => {
    let isSecure: boolean | undefined;
    await using server = await startMailServer({
      ...secure,
      authOptional: false,
      onAuth: (_auth, session, done) => {
        isSecure = session.secure;
        done(null, { user: 'u' });
      },
    });
    const account = serverAt(server.port, { user: 'user', password: 'word' });
    expect(await sendMail(account, mail, timeouts)).toEqual({ kind: 'sent' });
    expect(isSecure).toBe(true);
  });

  it('that fails on this machine, where it need not work, leaves the mail unencrypted', async () => {
    await using server = await startScriptedServer({
      EHLO: '250-hello\r\n250 STARTTLS',
      STARTTLS: '454 TLS not available',
    });
    expect(await sendMail(serverAt(server.port), mail, timeouts)).toEqual({ kind: 'sent' });
  });

  it.each([
    ['is verified elsewhere', secure, undefined, /self-signed/],
    ['is needed elsewhere', {}, undefined, /STARTTLS/],
    ['is not verified at a host that needs no TLS', secure, true, undefined],
    ['is not needed at a host that needs no TLS', {}, true, undefined],
  ] as const)('%s', async (_name, options, canBePlain, error) => {
    const lookup = vi
      .spyOn(dns, 'lookup')
      .mockImplementation(((_host: string, _options: object, done: Function) =>
        done(null, [{ address: '127.0.0.1', family: 4 }])) as never);
    await using server = await startMailServer(options);
    const relay = serverAt(server.port, { host: 'mailpit', ...(canBePlain && { allowsPlaintext: canBePlain }) });
    const outcome = await sendMail(relay, mail, timeouts);
    lookup.mockRestore();
    if (error === undefined) expect(outcome).toEqual({ kind: 'sent' });
    else expect(outcome).toMatchObject({ kind: 'later', isServer: true, error: expect.stringMatching(error) });
  });
});
