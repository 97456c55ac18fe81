import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { resendMail } from '#core/business/mail/mails.ts';
import { maxUncertainTries } from '#core/business/mail/outbox.ts';
import { sendDueMails } from '../../../plugins/mail/send-mails.ts';
import { closedPort } from '../../support/dead-ends.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { registry, unhurried, useOutbox } from './outbox-fixture.ts';
import { type Script, startScriptedServer } from './scripted-server.ts';

const outbox = useOutbox();
const { settings, createHost, send, record, rotate, addOrder, states, words, announce, makeDue } = outbox;

describe('while the mail server is down', () => {
  it('while the mail server is down, mails wait, one warning is logged, and they are sent when it is back', async () => {
    await rotate();
    await rotate();
    const lines = await send(settings(await closedPort()));
    expect(lines).toEqual([expect.stringMatching(/^warn {2}mail cannot be sent; retrying: connect: .*ECONNREFUSED/)]);
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'waiting']);
    await makeDue();
    await send();
    expect([await states(), outbox.server.received.length]).toEqual([['sent', 'sent'], 2]);
  });

  it('while the mail server is down, the wait doubles with each try', async () => {
    await rotate();
    const closed = settings(await closedPort());
    const waits: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      await send(closed);
      const [row] = await outbox.database.query<{ wait: number }>(
        'select extract(epoch from next_at - clock_timestamp())::float8 as wait from mail_message',
      );
      waits.push(Math.round((row?.wait ?? 0) / 30) * 30);
      await makeDue();
    }
    expect(waits).toEqual([30, 60, 120]);
  });

  it('while the mail server is down, a mail is given up a day after its event, with a line in the log', async () => {
    await rotate();
    const closed = settings(await closedPort());
    await send(closed);
    await outbox.database.query(`update account_event set created_at = now() - interval '25 hours'`);
    await makeDue();
    expect(await send(closed)).toEqual([
      expect.stringMatching(/the mail about event \d+ \(key\.rotated\) could not be sent and is not retried/),
    ]);
    expect((await states())[0]).toMatch(/^failed/);
  });
});

const reserve = () => record('place.reserved', { accountId: outbox.accountId, entryId: randomUUID() });

/** Adds a mail as an instance of a newer version has collected it. */
const collectReservation = async () => {
  await reserve();
  await send();
  expect(await states()).toEqual(['skipped: the place is no longer reserved']);
  await outbox.database.query(`update mail_message set state = 'waiting', error = null, finished_at = null`);
  await makeDue();
};

describe('a mail of a capability that is no longer there', () => {
  const kept = new Map([...registry.mailKinds].filter(([event]) => event !== 'place.reserved'));

  it('a mail of a capability that is no longer there is left to the instances that know it for a day, and holds up no other one', async () => {
    await collectReservation();
    await rotate();
    expect(await send(undefined, {}, kept)).toEqual([]);
    expect(await states()).toEqual(['waiting', 'sent']);
    await send();
    expect(await states()).toEqual(['skipped: the place is no longer reserved', 'sent']);
  });

  it('a mail of a capability that is no longer there is recorded as not sent when it is a day old, and holds up no other one', async () => {
    await collectReservation();
    await outbox.database.query(`update account_event set created_at = now() - interval '25 hours'`);
    await rotate();
    expect(await send(undefined, {}, kept)).toEqual([]);
    expect(await states()).toEqual(['skipped: nothing writes such mails any more', 'sent']);
  });

  it('a mail of a capability that is no longer there is not made for an event of it', async () => {
    await reserve();
    await send(undefined, {}, kept);
    expect(await states()).toEqual([]);
  });
});

describe('a mail whose sender has died', () => {
  it('a mail whose sender has died about no money is not repeated, and the log says so', async () => {
    await rotate();
    await send({});
    await outbox.database.query(
      `insert into mail_message (event_id, account_id, state, next_at)
       select id, ?, 'sending', now() - interval '1 second' from account_event where name = 'key.rotated'`,
      [outbox.accountId],
    );
    expect(await send()).toEqual([
      expect.stringContaining('may not have been sent: the gateway stopped while sending it'),
    ]);
    expect([await states(), outbox.server.received]).toEqual([
      ['uncertain: the gateway stopped while it was sent'],
      [],
    ]);
  });
});

describe('a mail server that hangs', () => {
  it('a mail server that hangs holds one mail until its deadline, and the others wait', async () => {
    await outbox.server[Symbol.asyncDispose]();
    outbox.server = await startMailServer({ onMailFrom: () => undefined });
    await rotate();
    await rotate();
    await send(undefined, { idle: 500, mail: 2_000 });
    expect(outbox.server.connections()).toBe(1);
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'waiting']);
  });
});

describe('a mail of which nobody knows whether it was taken', () => {
  it('a mail that may have been accepted is not sent again', async () => {
    await outbox.server[Symbol.asyncDispose]();
    outbox.server = await startMailServer({ onData: (stream) => void stream.resume() });
    await rotate();
    const lines = await send(undefined, { idle: 500 });
    expect((await states())[0]).toMatch(/^uncertain/);
    expect(lines).toEqual([expect.stringMatching(/may not have been delivered, and is not sent again/)]);
    await makeDue();
    await send(undefined, { idle: 500 });
    expect(outbox.server.connections()).toBe(1);
  });
});

describe('a mailbox that is full', () => {
  it('a mailbox that is full holds up no other one, and its mail waits', async () => {
    await outbox.server[Symbol.asyncDispose]();
    outbox.server = await startMailServer({
      onRcptTo({ address }, _session, done) {
        const full = Object.assign(new Error('mailbox full'), { responseCode: 452 });
        done(address === 'ani@example.com' ? full : null);
      },
    });
    const other = await createAccount(outbox.database, 'dp', { name: 'Budi', email: 'budi@example.com' });
    await rotate();
    await record('key.rotated', { accountId: other.accountId, keyId: randomUUID() });
    await send();
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'sent']);
    expect(outbox.server.received.map(({ to }) => to)).toEqual([['budi@example.com']]);
  });
});

/** Sends what is due to a server with this script. @returns what it heard and took */
async function sendTo(script: Script | ((connection: number) => Script), timeouts: Partial<typeof unhurried> = {}) {
  await using scripted = await startScriptedServer(script);
  const lines = await send(settings(scripted.port), timeouts);
  return { lines, mails: [...scripted.mails], commands: [...scripted.lines] };
}

const messageId = (raw = '') => /^Message-ID: (.+?)\r?$/m.exec(raw)?.[1];

/** Enters accounts at these domains, and an event for a mail to each. */
async function rotateAt(...domains: readonly string[]): Promise<void> {
  for (const [index, domain] of domains.entries()) {
    const other = await createAccount(outbox.database, 'dp', { name: 'Budi', email: `budi${index}@${domain}` });
    await record('key.rotated', { accountId: other.accountId, keyId: randomUUID() });
  }
}

describe('a receipt', () => {
  it('a receipt whose server says 421 after it is sent again, once', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
    await sendTo({ dot: { last: '421 4.7.28 try again later' } });
    expect((await states())[0]).toMatch(/^waiting: .*421 4\.7\.28/);
    await makeDue();
    await send();
    expect([await states(), outbox.server.received.length]).toEqual([['sent'], 1]);
  });

  it('a receipt that may have been accepted is sent again with the same id, a few times', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
    const ids = new Set<string | undefined>();
    for (let attempt = 1; attempt <= maxUncertainTries; attempt++) {
      await makeDue();
      const { mails, lines } = await sendTo({ dot: (socket) => void socket.destroy() });
      ids.add(messageId(mails[0]));
      const isLast = attempt === maxUncertainTries;
      expect((await states())[0]).toMatch(isLast ? /^uncertain/ : /^waiting/);
      expect(lines[0]).toContain(isLast ? 'and is not sent again' : 'and is sent again');
    }
    expect(ids.size).toBe(1);
    await makeDue();
    await send();
    expect(outbox.server.received).toEqual([]);
  });

  it('a receipt whose sender has died is sent again', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
    await sendTo({ MAIL: '451 later' });
    await outbox.database.query(`update mail_message set state = 'sending', next_at = now() - interval '1 second'`);
    expect(await send()).toEqual([expect.stringContaining('may not have been sent and is sent again')]);
    await send();
    expect([await states(), outbox.server.received.length]).toEqual([['sent'], 1]);
  });

  it('a receipt that an operator sends again has the same id, and its tries begin anew', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
    const { mails } = await sendTo({ RCPT: '550 5.1.1 unknown user', dot: '550 no' });
    expect(mails).toEqual([]);
    expect((await states())[0]).toMatch(/^failed/);
    await outbox.database.query(`update account_event set created_at = created_at - interval '2 days'`);
    const [{ id = '' } = {}] = await outbox.database.query<{ id: string }>(
      'select event_id::text as id from mail_message',
    );
    expect(await resendMail(outbox.database, id)).toBe(true);
    await sendTo({ RCPT: '450 greylisted' });
    expect((await states())[0]).toMatch(/^waiting/);
    await makeDue();
    await send();
    const first = messageId(outbox.server.received[0]?.raw);
    expect(await resendMail(outbox.database, id)).toBe(true);
    await send();
    expect(outbox.server.received.map(({ raw }) => messageId(raw))).toEqual([first, first]);
  });

  it('a receipt goes before an announcement to thousands', async () => {
    const announcementId = await announce('2060-01-01T00:00Z');
    for (let mail = 0; mail < 3; mail++)
      await record('announcement.published', { accountId: outbox.accountId, announcementId });
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
    await send();
    expect(outbox.server.received).toHaveLength(4);
    expect(words()).toContain('Subject: Receipt');
  });

  it('a receipt goes out while another run waits for the server with an announcement', async () => {
    const announcementId = await announce('2060-01-01T00:00Z');
    for (let mail = 0; mail < 2; mail++)
      await record('announcement.published', { accountId: outbox.accountId, announcementId });
    const { promise: isWaiting, resolve: wait } = Promise.withResolvers<() => void>();
    await using scripted = await startScriptedServer((connection) =>
      connection === 1 ? { dot: (socket) => wait(() => socket.write('250 taken\r\n')) } : {},
    );
    await using host = createHost(settings(scripted.port));
    const run = () => sendDueMails(host, registry, unhurried);
    const first = run();
    const release = await isWaiting;
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
    await run();
    expect(scripted.mails.map((mail) => /^Subject: (\w+)/m.exec(mail)?.[1])).toEqual(['A', 'Receipt']);
    release();
    await first;
    expect(scripted.mails).toHaveLength(3);
  });
});

describe('a mail whose recipient the server refuses', () => {
  it.each([
    ['550 authentication required', 'waiting'],
    ['550 relay not permitted', 'waiting'],
    ['550 5.4.5 Daily user sending limit exceeded', 'waiting'],
    ['550 5.1.1 unknown user', 'failed'],
    ['550 Invalid recipient', 'waiting'],
  ])('a mail whose recipient the server refuses with "%s" alone is %s', async (reply, state) => {
    await rotate();
    await sendTo({ RCPT: reply });
    expect((await states())[0]).toBe(`${state}: Can't send mail - all recipients were rejected: ${reply}`);
  });

  it('a mail whose recipient the server refuses waits alone, and the others go on', async () => {
    await rotateAt('one.example', 'two.example');
    const { mails } = await sendTo({
      RCPT: (socket, line) => void socket.write(line.includes('one.example') ? '550 5.7.1 denied\r\n' : '250 ok\r\n'),
    });
    expect(mails).toHaveLength(1);
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'sent']);
  });

  it('a mail whose recipient the server refuses fails for unclear words once the server has taken another mail', async () => {
    await rotateAt('one.example', 'two.example');
    await sendTo({
      RCPT: (socket, line) =>
        void socket.write(line.includes('one.example') ? '550 Invalid recipient\r\n' : '250 ok\r\n'),
    });
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['failed', 'sent']);
  });

  it('a mail whose recipient the server refuses as those at two other domains ends the run, and all wait', async () => {
    await rotateAt('one.example', 'two.example', 'three.example', 'four.example');
    const { commands } = await sendTo({ RCPT: '550 5.1.2 Unrouteable address' });
    expect(commands.filter((line) => line.startsWith('RCPT'))).toHaveLength(3);
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'waiting', 'waiting', 'waiting']);
  });

  it.each(['MAIL', 'EHLO'])(
    'a mail whose recipient the server refuses after a refusal of %s is not asked about',
    async (command) => {
      await rotateAt('one.example', 'two.example');
      const { commands } = await sendTo({ [command]: '550 5.7.1 no', HELO: '550 no' });
      expect(commands.filter((line) => line.startsWith(command))).toHaveLength(1);
      expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'waiting']);
    },
  );
});
