import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { repeatMail } from '#core/business/mail/mails.ts';
import { maxUncertainTries } from '#core/business/mail/outbox.ts';
import { giftSteps, readGiftCode } from '#core/business/payments/gifts.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import type { Database } from '#core/platform/database/database.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { sendDueMails } from '../../../plugins/mail/send-mails.ts';
import { clearDatabase, createTestDatabase, silentLog } from '../../support/database.ts';
import { closedPort } from '../../support/dead-ends.ts';
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts';
import { registeredHere, tablesHere } from '../../support/registered.ts';
import { type Script, startScriptedServer } from './scripted-server.ts';

const registry = await registeredHere();

/** Longer than any pause of a busy machine. */
const unhurried = { connect: 30_000, greeting: 30_000, idle: 30_000, mail: 30_000 };

let database: Database;
let server: TestMailServer;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase(silentLog, await tablesHere());
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await clearDatabase(database);
  server = await startMailServer();
  ({ accountId } = await createAccount(database, 'dp', { name: 'Ani <b>', email: 'ani@example.com' }));
  await database.query(`update account set created_at = now() - interval '30 days' where id = ?`, [accountId]);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

const settings = (port = server.port) => ({ smtp: `smtp://127.0.0.1:${port}`, from: 'no-reply@gateway.example' });

const createHost = (mail: object = settings()) => createTestHost({ database, sections: { mail } });

async function send(
  mail?: object,
  timeouts: Partial<typeof unhurried> = {},
  mailKinds: typeof registry.mailKinds = registry.mailKinds,
): Promise<readonly string[]> {
  await using host = createHost(mail);
  await sendDueMails(host, { ...registry, mailKinds }, { ...unhurried, ...timeouts });
  return host.lines;
}

const record = <Name extends keyof EventTypes>(name: Name, payload: EventTypes[Name]) =>
  database.fork().transactional((tx) => recordEvent(tx, name, payload, randomUUID()));

const rotate = () => record('key.rotated', { accountId, keyId: randomUUID() });

/** Enters a period that ends so many seconds from now and was bought 20 days ago. @returns its end */
async function addPeriod(until: number): Promise<string> {
  const [row] = await database.query<{ ends_at: number }>(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, created_at)
     values (gen_random_uuid(), ?, now() - interval '20 days', now() + make_interval(secs => ?), 20, 'grant', now() - interval '20 days')
     returning (extract(epoch from ends_at) * 1000)::float8 as ends_at`,
    [accountId, until],
  );
  return new Date(row?.ends_at ?? 0).toISOString();
}

/** Enters a paid order. @returns its id */
async function addOrder(): Promise<string> {
  const orderId = randomUUID();
  await database.query(
    `with o as (
       insert into plan_order (id, code, account_id, days, price, currency, label, provider, state, expires_at, paid_at)
       values (?, 'ORD-TEST', ?, 7, 95000, 'IDR', 'for weekly work', 'sandbox', 'paid', now(), now())
     ), a as (
       insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at)
       values ('ORD-TEST-1', ?, 1, 'sandbox', 95000, 'IDR', now())
     )
     insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, issuer, outcome, raw)
     values (gen_random_uuid(), ?, 'ORD-TEST-1', 'sandbox', 'p', 95000, 'IDR', '2026-11-22 05:00Z', 'Bank <Jago>', 'activated', '{}')`,
    [orderId, accountId, orderId, orderId],
  );
  return orderId;
}

const states = async () => {
  const rows = await database.query<{ state: string; error: string | null }>(
    'select state, error from mail_message order by event_id',
  );
  return rows.map(({ state, error }) => (error === null ? state : `${state}: ${error}`));
};

/** Enters time that was given back, in place of the last period if it was replaced; hours from now. @returns its end */
const giveBack = async (from: number, until: number, created = from, replaced = false) => {
  const [row] = await database.query<{ ends_at: number }>(
    `insert into plan_period (id, account_id, replaces, starts_at, ends_at, days, reason, created_at)
     select gen_random_uuid(), ?, max(id::text) filter (where ?::boolean)::uuid, now() + make_interval(secs => 3600 * ?::float8),
       now() + make_interval(secs => 3600 * ?::float8), 20, 'outage', now() + make_interval(secs => 3600 * ?::float8)
     from plan_period p where ends_at = (select max(ends_at) from plan_period)
     returning (extract(epoch from ends_at) * 1000)::float8 as ends_at`,
    [accountId, replaced, from, until, created],
  );
  return new Date(row?.ends_at ?? 0).toISOString();
};

/** What becomes of the mail. */
const told = async (name: 'plan.ending' | 'plan.ended', endsAt: string) => {
  await record(name, { accountId, endsAt });
  await send();
  return (await states()).at(-1);
};

/** The words of a mail, without the encoding of its parts. */
function decode(raw: string): string {
  const bytes = raw
    .replace(/=\r\n/g, '')
    .replace(/=([\dA-F]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

const words = (index = 0) => decode(server.received[index]?.raw ?? '');

/** @returns the id of an announcement that has begun */
async function announce(until: string): Promise<string> {
  const id = randomUUID();
  await database.query(
    `insert into announcement (id, kind, audience, text_en, text_id, starts_at, ends_at, created_by)
     values (?, 'note', 'all', 'We move.', 'Kami pindah.', '2020-01-01T00:00Z', ?, 'ops')`,
    [id, until],
  );
  return id;
}

describe('a refund', () => {
  it.each([
    [
      'en',
      'unused',
      false,
      'Rp 30.000 of your order has been refunded',
      'through the payment provider',
      'remaining days have',
    ],
    [
      'en',
      'whole',
      false,
      'Rp 30.000 of your order has been refunded',
      'through the payment provider',
      'All days of the',
    ],
    ['id', 'unused', true, 'Rp 30.000 dari pesanan kamu sudah', 'Operator sudah mengembalikan', 'Sisa masa aktif'],
  ])('says in %s what went back, how, and what became of the days: %s', async (language, days, isManual, ...parts) => {
    await database.query('update account set language = ? where id = ?', [language, accountId]);
    await sendRefund({ days, isManual });
    for (const part of [...parts, 'ORD-TEST', '23 Nov 2026', '/orders/ORD-TEST']) expect(plainWords()).toContain(part);
  });

  it('that took no days, or of a payment that gave none, says nothing of them', async () => {
    await sendRefund({ days: 'none', isManual: false });
    expect(plainWords()).toContain('has gone back to you');
    expect(plainWords()).not.toMatch(/days of the order|remaining days/);
  });
});

const plainWords = () => words().replaceAll('\u00a0', ' ');

async function sendRefund({ days, isManual }: { days: string; isManual: boolean }): Promise<void> {
  const orderId = await addOrder();
  await database.query(
    `insert into refund (key, order_id, payment_id, amount, currency, state, days, is_manual, reason, finished_at)
     select 'ORD-TEST-R1', order_id, id, 30000, currency, 'done', ?, ?::boolean, 'asked for', '2026-11-22 20:00Z'
     from payment where order_id = ?`,
    [days, isManual, orderId],
  );
  const about = { orderId, accountId, refund: 'ORD-TEST-R1', amount: 30_000, currency: 'IDR' };
  await record('payment.refunded', about);
  await send();
}

describe('a receipt', () => {
  it('states order, plan, amount and time, in the zone of the gateway', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId });
    await send();
    expect(words()).toContain('Subject: Receipt for order ORD-TEST');
    for (const part of ['7 days, for weekly work', 'Rp 95.000', '22 Nov 2026', '12:00', '/orders/ORD-TEST/receipt'])
      expect(words().replaceAll('\u00a0', ' ')).toContain(part);
  });

  it('of a gift has its code and where it is redeemed, as long as it can be, and nothing about a pass', async () => {
    const orderId = await addOrder();
    await database.query('update plan_order set is_gift = true where id = ?', [orderId]);
    await database
      .fork()
      .transactional(async (transaction) =>
        (await giftSteps.findLoader(transaction)?.())?.issueGift(transaction, orderId),
      );
    const code = await readGiftCode(database, (await readOrder(database, { id: orderId }))!);
    await record('order.paid', { orderId, accountId });
    await send();
    await database.query('update voucher set revoked_at = clock_timestamp() where order_id = ?', [orderId]);
    await record('order.paid', { orderId, accountId });
    await send();
    for (const part of [code?.written ?? 'none', code?.path ?? 'none', '/orders/ORD-TEST/done'])
      expect(words()).toContain(part);
    expect(words()).not.toContain('your key is active');
    expect(words(1)).toContain('what has become of your gift');
    expect(words(1)).not.toContain(code?.written);
  });

  it('leads to the command that sets up tools', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId });
    await send();
    expect(words()).toMatch(/One command sets up your tools: \S+\/dashboard\/connect\s/);
  });

  it('is written in the language of the account', async () => {
    await database.query(`update account set language = 'id' where id = ?`, [accountId]);
    await record('order.paid', { orderId: await addOrder(), accountId });
    await send();
    expect(words()).toContain('Subject: Bukti pembayaran pesanan ORD-TEST');
    expect(words()).toContain('7 hari');
  });

  it('escapes what customers and banks have written', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId });
    await send();
    const [, html = ''] = words().split('text/html');
    expect(html).toContain('Ani &lt;b&gt;');
    expect(html).toContain('Bank &lt;Jago&gt;');
    expect(html).not.toContain('<b>');
  });
});

describe('a mail', () => {
  it.each([
    ['plan.ending', 3_600, 'Subject: Your pass ends on'],
    ['plan.ended', -60, 'Subject: Your pass has ended'],
  ] as const)('is sent about %s', async (name, until, subject) => {
    await record(name, { accountId, endsAt: await addPeriod(until) });
    await send();
    expect(words()).toContain(subject);
  });

  it('is sent about a sign-in, with the browser', async () => {
    await new Sessions(database).create(accountId, 'Firefox\r\nBcc: x@example.com');
    await send();
    expect(words()).toContain('Subject: New sign-in to Daypass');
    expect(words()).toContain('Firefox Bcc: x@example.com');
    expect(server.received.flatMap(({ to }) => to)).toEqual(['ani@example.com']);
  });

  it('is sent about a new key', async () => {
    await rotate();
    await send();
    expect(words()).toContain('Subject: Your key has been replaced');
  });

  it('that is skipped holds up no other one', async () => {
    await record('plan.ending', { accountId, endsAt: new Date(0).toISOString() });
    await record('order.paid', { orderId: randomUUID(), accountId });
    await rotate();
    await send();
    expect([await states(), server.received.length]).toEqual([
      ['skipped: the plan ends at another time now', 'skipped: the order has no payment', 'sent'],
      1,
    ]);
  });

  it('about a changed address is sent to the former one', async () => {
    await database.query(`update account set email = 'new@example.com', former_email = 'ani@example.com'`);
    await record('account.email_changed', { accountId });
    await send();
    expect(server.received.map(({ to }) => to)).toEqual([['ani@example.com']]);
    expect(words()).toContain('Subject: Your Daypass account has a new e-mail address');
  });

  it('about an announcement is in the language of the account, and is not sent when it has ended', async () => {
    await database.query(`update account set language = 'id'`);
    for (const until of ['2021-01-01T00:00Z', '2060-01-01T00:00Z'])
      await record('announcement.published', { accountId, announcementId: await announce(until) });
    await send();
    expect(await states()).toEqual(['skipped: the announcement has ended', 'sent']);
    expect(words()).toContain('Kami pindah.');
    expect(words()).toContain('/status');
  });

  it('is sent once for each event, by four workers at once', async () => {
    for (let event = 0; event < 8; event++) await rotate();
    await Promise.all([send(), send(), send(), send()]);
    await send();
    const ids = server.received.map(({ raw }) => /^Message-ID: (.+)$/m.exec(raw)?.[1]);
    expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
  });

  it('has an id that names event and sender, the same for each try', async () => {
    await rotate();
    await send();
    expect(/^Message-ID: <(.+)>\r?$/m.exec(server.received[0]?.raw ?? '')?.[1]).toMatch(
      /^daypass-\d+-\d{13}@gateway\.example$/,
    );
  });

  it('says whom to write to', async () => {
    await rotate();
    await using host = createHost();
    Object.assign(host, { service: { ...host.service, contact: 'mailto:help@example.com' } });
    await sendDueMails(host, registry, unhurried);
    expect(words()).toContain('help@example.com');
    expect(words()).toContain('href="mailto:help@example.com"');
    expect(words().replaceAll('href="mailto:', '')).not.toContain('mailto:');
    await rotate();
    await send();
    expect(words(1)).not.toContain('undefined');
  });

  it('that cannot be written fails with a line in the log, and holds up no other one', async () => {
    await record('plan.ended', { accountId, endsAt: 'never' });
    await rotate();
    const lines = await send();
    expect(await states()).toEqual(['failed: it cannot be written', 'sent']);
    expect(lines[0]).toMatch(/^error +the mail about event \d+ cannot be composed/);
    expect(lines[1]).toMatch(/\(plan\.ended\) could not be sent and is not retried: it cannot be written$/);
  });

  it('leaves no address in the table of mails', async () => {
    await rotate();
    await send();
    const [row] = await database.query<{ row: string }>('select row_to_json(m)::text as row from mail_message m');
    expect(row?.row).not.toContain('ani@example.com');
  });
});

describe('nothing', () => {
  it('is sent, and nothing waits to be sent, without mail in gateway.yaml', async () => {
    await rotate();
    await send({});
    expect([await states(), server.connections()]).toEqual([[], 0]);
  });

  it.each<[string, string]>([
    ['an account without an address', 'update account set email = null where id = ?'],
    ['two addresses', `update account set email = 'ani@example.com,victim@example.com' where id = ?`],
    ['an address with a space', `update account set email = 'ani @example.com' where id = ?`],
    ['a blocked account', 'update account set blocked_at = now() where id = ?'],
    ['a deleted account', 'update account set deleted_at = now() where id = ?'],
  ])('is sent to %s', async (_name, sql) => {
    await database.query(sql, [accountId]);
    await rotate();
    await send();
    expect([(await states())[0]?.split(':')[0], server.received]).toEqual(['skipped', []]);
  });

  it('is sent about a plan that was renewed meanwhile', async () => {
    const endsAt = await addPeriod(3_600);
    await record('plan.ending', { accountId, endsAt });
    await record('plan.ended', { accountId, endsAt });
    await addPeriod(90_000);
    await send();
    expect(await states()).toEqual([
      'skipped: the plan ends at another time now',
      'skipped: the plan has been renewed',
    ]);
  });

  it('is sent about the end of a plan that was bought just now', async () => {
    const endsAt = await addPeriod(3_600);
    await database.query('alter table plan_period disable trigger user');
    await database.query('update plan_period set created_at = now()');
    await record('plan.ending', { accountId, endsAt });
    await send();
    expect(await states()).toEqual(['skipped: the plan was bought a short time ago']);
  });

  it('asks nobody to renew a plan that a refund has ended, and says so to the receiver of a gift', async () => {
    const endsAt = await addPeriod(-60);
    const orderId = await addOrder();
    await database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, replaces, order_id)
       select gen_random_uuid(), account_id, starts_at, ends_at, days, 'refund', id, ? from plan_period`,
      [orderId],
    );
    expect(await told('plan.ended', endsAt)).toBe('skipped: the plan ended by a refund');
    const giver = await createAccount(database, 'dp', { name: 'Budi' });
    await database.query('update plan_order set account_id = ?', [giver.accountId]);
    expect(await told('plan.ended', endsAt)).toBe('sent');
    expect(words()).toContain('Subject: Your gift was refunded');
    expect(words()).toContain('was refunded to its giver');
    expect(words()).not.toContain('Renew');
  });

  it('is sent a second time about an end that only some time for an outage has moved', async () => {
    const ended = await addPeriod(-3 * 86_400);
    const skipped = 'skipped: only time for an outage was added since the mail before';
    expect(await told('plan.ended', ended)).toBe('sent');
    expect(await told('plan.ended', await giveBack(-40, -39))).toBe(skipped);
    expect(await told('plan.ending', await giveBack(-4, 1))).toBe(skipped);
    // Longer while it ran: the mail about its last day was due before, that about its end was not.
    const longer = await giveBack(-4, 2, -2, true);
    expect(await told('plan.ending', longer)).toBe(skipped);
    // What is given back for days is a pass again.
    expect(await told('plan.ending', await giveBack(-4, 30, -2, true))).toBe('sent');
    expect(server.received).toHaveLength(2);
  });

  it('is sent about time that was given back where mails about it are turned off', async () => {
    await record('outage.credited', { accountId, outageId: randomUUID() });
    await send();
    expect(await states()).toEqual(['skipped: mails about outages are turned off']);
  });

  it('is sent about ending plans when reminders are turned off', async () => {
    await record('plan.ending', { accountId, endsAt: await addPeriod(3_600) });
    await send({ ...settings(), plan_ending: false });
    expect(await states()).toEqual(['skipped: reminders are turned off']);
  });

  it('is sent about the first sign-in', async () => {
    await database.query('update account set created_at = now() where id = ?', [accountId]);
    await new Sessions(database).create(accountId, 'Firefox');
    await send();
    expect(await states()).toEqual(['skipped: it is the first sign-in']);
  });

  it('is sent about events of the day before yesterday', async () => {
    await rotate();
    await database.query(`update account_event set created_at = now() - interval '25 hours'`);
    await send();
    expect([await states(), server.received]).toEqual([[], []]);
  });
});

const makeDue = () => database.query('update mail_message set next_at = now()');

describe('while the mail server is down', () => {
  it('mails wait, one warning is logged, and they are sent when it is back', async () => {
    await rotate();
    await rotate();
    const lines = await send(settings(await closedPort()));
    expect(lines).toEqual([expect.stringMatching(/^warn {2}mail cannot be sent; retrying: connect: .*ECONNREFUSED/)]);
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'waiting']);
    await makeDue();
    await send();
    expect([await states(), server.received.length]).toEqual([['sent', 'sent'], 2]);
  });

  it('the wait doubles with each try', async () => {
    await rotate();
    const closed = settings(await closedPort());
    const waits: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      await send(closed);
      const [row] = await database.query<{ wait: number }>(
        'select extract(epoch from next_at - clock_timestamp())::float8 as wait from mail_message',
      );
      waits.push(Math.round((row?.wait ?? 0) / 30) * 30);
      await makeDue();
    }
    expect(waits).toEqual([30, 60, 120]);
  });

  it('a mail is given up a day after its event, with a line in the log', async () => {
    await rotate();
    const closed = settings(await closedPort());
    await send(closed);
    await database.query(`update account_event set created_at = now() - interval '25 hours'`);
    await makeDue();
    expect(await send(closed)).toEqual([
      expect.stringMatching(/the mail about event \d+ \(key\.rotated\) could not be sent and is not retried/),
    ]);
    expect((await states())[0]).toMatch(/^failed/);
  });
});

const reserve = () => record('place.reserved', { accountId, entryId: randomUUID() });

/** Adds a mail as an instance of a newer version has collected it. */
const collectReservation = async () => {
  await reserve();
  await send();
  expect(await states()).toEqual(['skipped: the place is no longer reserved']);
  await database.query(`update mail_message set state = 'waiting', error = null, finished_at = null`);
  await makeDue();
};

describe('a mail of a capability that is no longer there', () => {
  const kept = new Map([...registry.mailKinds].filter(([event]) => event !== 'place.reserved'));

  it('is left to the instances that know it for a day, and holds up no other one', async () => {
    await collectReservation();
    await rotate();
    expect(await send(undefined, {}, kept)).toEqual([]);
    expect(await states()).toEqual(['waiting', 'sent']);
    await send();
    expect(await states()).toEqual(['skipped: the place is no longer reserved', 'sent']);
  });

  it('is recorded as not sent when it is a day old, and holds up no other one', async () => {
    await collectReservation();
    await database.query(`update account_event set created_at = now() - interval '25 hours'`);
    await rotate();
    expect(await send(undefined, {}, kept)).toEqual([]);
    expect(await states()).toEqual(['skipped: nothing writes such mails any more', 'sent']);
  });

  it('is not made for an event of it', async () => {
    await reserve();
    await send(undefined, {}, kept);
    expect(await states()).toEqual([]);
  });
});

describe('a mail whose sender has died', () => {
  it('about no money is not repeated, and the log says so', async () => {
    await rotate();
    await send({});
    await database.query(
      `insert into mail_message (event_id, account_id, state, next_at)
       select id, ?, 'sending', now() - interval '1 second' from account_event where name = 'key.rotated'`,
      [accountId],
    );
    expect(await send()).toEqual([
      expect.stringContaining('may not have been sent: the gateway stopped while sending it'),
    ]);
    expect([await states(), server.received]).toEqual([['uncertain: the gateway stopped while it was sent'], []]);
  });
});

describe('a mail server that hangs', () => {
  it('holds one mail until its deadline, and the others wait', async () => {
    await server[Symbol.asyncDispose]();
    server = await startMailServer({ onMailFrom: () => undefined });
    await rotate();
    await rotate();
    await send(undefined, { idle: 500, mail: 2_000 });
    expect(server.connections()).toBe(1);
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'waiting']);
  });
});

describe('a mail of which nobody knows whether it was taken', () => {
  it('is not sent again', async () => {
    await server[Symbol.asyncDispose]();
    server = await startMailServer({ onData: (stream) => void stream.resume() });
    await rotate();
    const lines = await send(undefined, { idle: 500 });
    expect((await states())[0]).toMatch(/^uncertain/);
    expect(lines).toEqual([expect.stringMatching(/may not have been delivered, and is not sent again/)]);
    await makeDue();
    await send(undefined, { idle: 500 });
    expect(server.connections()).toBe(1);
  });
});

describe('a mailbox that is full', () => {
  it('holds up no other one, and its mail waits', async () => {
    await server[Symbol.asyncDispose]();
    server = await startMailServer({
      onRcptTo({ address }, _session, done) {
        const full = Object.assign(new Error('mailbox full'), { responseCode: 452 });
        done(address === 'ani@example.com' ? full : null);
      },
    });
    const other = await createAccount(database, 'dp', { name: 'Budi', email: 'budi@example.com' });
    await rotate();
    await record('key.rotated', { accountId: other.accountId, keyId: randomUUID() });
    await send();
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'sent']);
    expect(server.received.map(({ to }) => to)).toEqual([['budi@example.com']]);
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
    const other = await createAccount(database, 'dp', { name: 'Budi', email: `budi${index}@${domain}` });
    await record('key.rotated', { accountId: other.accountId, keyId: randomUUID() });
  }
}

describe('a receipt', () => {
  it('whose server says 421 after it is sent again, once', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId });
    await sendTo({ dot: { last: '421 4.7.28 try again later' } });
    expect((await states())[0]).toMatch(/^waiting: .*421 4\.7\.28/);
    await makeDue();
    await send();
    expect([await states(), server.received.length]).toEqual([['sent'], 1]);
  });

  it('of which nobody knows whether it was taken is sent again with the same id, some times', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId });
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
    expect(server.received).toEqual([]);
  });

  it('whose sender has died is sent again', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId });
    await sendTo({ MAIL: '451 later' });
    await database.query(`update mail_message set state = 'sending', next_at = now() - interval '1 second'`);
    expect(await send()).toEqual([expect.stringContaining('may not have been sent and is sent again')]);
    await send();
    expect([await states(), server.received.length]).toEqual([['sent'], 1]);
  });

  it('that an operator sends again has the same id, and its tries begin anew', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId });
    const { mails } = await sendTo({ RCPT: '550 5.1.1 unknown user', dot: '550 no' });
    expect(mails).toEqual([]);
    expect((await states())[0]).toMatch(/^failed/);
    await database.query(`update account_event set created_at = created_at - interval '2 days'`);
    const [{ id = '' } = {}] = await database.query<{ id: string }>('select event_id::text as id from mail_message');
    expect(await repeatMail(database, id)).toBe(true);
    await sendTo({ RCPT: '450 greylisted' });
    expect((await states())[0]).toMatch(/^waiting/);
    await makeDue();
    await send();
    const first = messageId(server.received[0]?.raw);
    expect(await repeatMail(database, id)).toBe(true);
    await send();
    expect(server.received.map(({ raw }) => messageId(raw))).toEqual([first, first]);
  });

  it('goes before an announcement to thousands', async () => {
    const announcementId = await announce('2060-01-01T00:00Z');
    for (let mail = 0; mail < 3; mail++) await record('announcement.published', { accountId, announcementId });
    await record('order.paid', { orderId: await addOrder(), accountId });
    await send();
    expect(server.received).toHaveLength(4);
    expect(words()).toContain('Subject: Receipt');
  });

  it('goes out while another run waits for the server with an announcement', async () => {
    const announcementId = await announce('2060-01-01T00:00Z');
    for (let mail = 0; mail < 2; mail++) await record('announcement.published', { accountId, announcementId });
    const { promise: isWaiting, resolve: wait } = Promise.withResolvers<() => void>();
    await using scripted = await startScriptedServer((connection) =>
      connection === 1 ? { dot: (socket) => wait(() => socket.write('250 taken\r\n')) } : {},
    );
    await using host = createHost(settings(scripted.port));
    const run = () => sendDueMails(host, registry, unhurried);
    const first = run();
    const release = await isWaiting;
    await record('order.paid', { orderId: await addOrder(), accountId });
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
  ])('with "%s" alone is %s', async (reply, state) => {
    await rotate();
    await sendTo({ RCPT: reply });
    expect((await states())[0]).toBe(`${state}: Can't send mail - all recipients were rejected: ${reply}`);
  });

  it('waits alone, and the others go on', async () => {
    await rotateAt('one.example', 'two.example');
    const { mails } = await sendTo({
      RCPT: (socket, line) => void socket.write(line.includes('one.example') ? '550 5.7.1 denied\r\n' : '250 ok\r\n'),
    });
    expect(mails).toHaveLength(1);
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'sent']);
  });

  it('fails for unclear words once the server has taken another mail', async () => {
    await rotateAt('one.example', 'two.example');
    await sendTo({
      RCPT: (socket, line) =>
        void socket.write(line.includes('one.example') ? '550 Invalid recipient\r\n' : '250 ok\r\n'),
    });
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['failed', 'sent']);
  });

  it('as those at two other domains ends the run, and all wait', async () => {
    await rotateAt('one.example', 'two.example', 'three.example', 'four.example');
    const { commands } = await sendTo({ RCPT: '550 5.1.2 Unrouteable address' });
    expect(commands.filter((line) => line.startsWith('RCPT'))).toHaveLength(3);
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'waiting', 'waiting', 'waiting']);
  });

  it.each(['MAIL', 'EHLO'])('after a refusal of %s is not asked about', async (command) => {
    await rotateAt('one.example', 'two.example');
    const { commands } = await sendTo({ [command]: '550 5.7.1 no', HELO: '550 no' });
    expect(commands.filter((line) => line.startsWith(command))).toHaveLength(1);
    expect((await states()).map((state) => state.split(':')[0])).toEqual(['waiting', 'waiting']);
  });
});
