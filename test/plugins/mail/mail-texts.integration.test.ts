import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { giftSteps, readGiftCode } from '#core/business/payments/gifts.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { composeMail } from '../../../plugins/mail/compose.ts';
import { sendDueMails } from '../../../plugins/mail/send-mails.ts';
import { registry, unhurried, useOutbox } from './outbox-fixture.ts';

const outbox = useOutbox();
const { settings, createHost, send, record, rotate, addOrder, states, words, announce } = outbox;

/** Enters a period that ends so many seconds from now and was bought 20 days ago. @returns its end */
async function addPeriod(until: number): Promise<string> {
  const [row] = await outbox.database.query<{ ends_at: number }>(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, created_at)
     values (gen_random_uuid(), ?, now() - interval '20 days', now() + make_interval(secs => ?), 20, 'grant', now() - interval '20 days')
     returning (extract(epoch from ends_at) * 1000)::float8 as ends_at`,
    [outbox.accountId, until],
  );
  return new Date(row?.ends_at ?? 0).toISOString();
}

/** Enters time that was given back, in place of the last period if it was replaced; hours from now. @returns its end */
const giveBack = async (from: number, until: number, created = from, replaced = false) => {
  const [row] = await outbox.database.query<{ ends_at: number }>(
    `insert into plan_period (id, account_id, replaces, starts_at, ends_at, days, reason, created_at)
     select gen_random_uuid(), ?, max(id::text) filter (where ?::boolean)::uuid, now() + make_interval(secs => 3600 * ?::float8),
       now() + make_interval(secs => 3600 * ?::float8), 20, 'outage', now() + make_interval(secs => 3600 * ?::float8)
     from plan_period p where ends_at = (select max(ends_at) from plan_period)
     returning (extract(epoch from ends_at) * 1000)::float8 as ends_at`,
    [outbox.accountId, replaced, from, until, created],
  );
  return new Date(row?.ends_at ?? 0).toISOString();
};

/** What becomes of the mail. */
const outcomeOf = async (name: 'plan.ending' | 'plan.ended', endsAt: string) => {
  await record(name, { accountId: outbox.accountId, endsAt });
  await send();
  return (await states()).at(-1);
};

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
  ])(
    'a refund says in %s what went back, how, and what became of the days: %s',
    async (language, days, isManual, ...parts) => {
      await outbox.database.query('update account set language = ? where id = ?', [language, outbox.accountId]);
      await sendRefund({ days, isManual });
      for (const part of [...parts, 'ORD-TEST', '23 Nov 2026', '/orders/ORD-TEST'])
        expect(plainWords()).toContain(part);
    },
  );

  it('a refund that took no days, or of a payment that gave none, says nothing of them', async () => {
    await sendRefund({ days: 'none', isManual: false });
    expect(plainWords()).toContain('has gone back to you');
    expect(plainWords()).not.toMatch(/days of the order|remaining days/);
  });
});

const plainWords = () => words().replaceAll('\u00a0', ' ');

async function sendRefund({ days, isManual }: { days: string; isManual: boolean }): Promise<void> {
  const orderId = await addOrder();
  await outbox.database.query(
    `insert into refund (key, order_id, payment_id, amount, currency, state, days, is_manual, reason, finished_at)
     select 'ORD-TEST-R1', order_id, id, 30000, currency, 'done', ?, ?::boolean, 'asked for', '2026-11-22 20:00Z'
     from payment where order_id = ?`,
    [days, isManual, orderId],
  );
  const about = { orderId, accountId: outbox.accountId, refund: 'ORD-TEST-R1', amount: 30_000, currency: 'IDR' };
  await record('payment.refunded', about);
  await send();
}

describe('a receipt', () => {
  it('a receipt states order, plan, amount and time, in the zone of the gateway', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
    await send();
    expect(words()).toContain('Subject: Receipt for order ORD-TEST');
    for (const part of ['7 days, for weekly work', 'Rp 95.000', '22 Nov 2026', '12:00', '/orders/ORD-TEST/receipt'])
      expect(words().replaceAll('\u00a0', ' ')).toContain(part);
  });

  it('a receipt of a gift has its code and where it is redeemed, as long as it can be, and nothing about a pass', async () => {
    const orderId = await addOrder();
    await outbox.database.query('update plan_order set is_gift = true where id = ?', [orderId]);
    await outbox.database
      .fork()
      .transactional(async (transaction) =>
        (await giftSteps.findLoader(transaction)?.())?.issueGift(transaction, orderId),
      );
    const code = await readGiftCode(outbox.database, (await readOrder(outbox.database, { id: orderId }))!);
    await record('order.paid', { orderId, accountId: outbox.accountId });
    await send();
    await outbox.database.query('update voucher set revoked_at = clock_timestamp() where order_id = ?', [orderId]);
    await record('order.paid', { orderId, accountId: outbox.accountId });
    await send();
    for (const part of [code?.written ?? 'none', code?.path ?? 'none', '/orders/ORD-TEST/done'])
      expect(words()).toContain(part);
    expect(words()).not.toContain('your key is active');
    expect(words(1)).toContain('the state of your gift');
    expect(words(1)).not.toContain(code?.written);
  });

  it('a receipt of a gift whose code cannot be shown has no link to redeem it', async () => {
    const orderId = await addOrder();
    await outbox.database.query('update plan_order set is_gift = true where id = ?', [orderId]);
    await using host = createHost();
    const claimed = {
      eventId: randomUUID(),
      event: 'order.paid',
      channel: 'customer',
      accountId: outbox.accountId,
      payload: { orderId, accountId: outbox.accountId },
      createdAt: new Date(),
      uncertainTries: 0,
    } as const;
    const mail = await composeMail(host, registry, claimed);
    expect(mail).toMatchObject({ content: { paragraphs: [expect.stringContaining('the state of your gift')] } });
    expect(JSON.stringify(mail)).not.toContain('undefined');
  });

  it('a receipt leads to the command that sets up tools', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
    await send();
    expect(words()).toMatch(/One command sets up your tools: \S+\/dashboard\/connect\s/);
  });

  it('a receipt is written in the language of the account', async () => {
    await outbox.database.query(`update account set language = 'id' where id = ?`, [outbox.accountId]);
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
    await send();
    expect(words()).toContain('Subject: Bukti pembayaran pesanan ORD-TEST');
    expect(words()).toContain('7 hari');
  });

  it('a receipt escapes what customers and banks have written', async () => {
    await record('order.paid', { orderId: await addOrder(), accountId: outbox.accountId });
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
  ] as const)('a mail is sent about %s', async (name, until, subject) => {
    await record(name, { accountId: outbox.accountId, endsAt: await addPeriod(until) });
    await send();
    expect(words()).toContain(subject);
  });

  it('a mail is sent about a sign-in, with the browser', async () => {
    await new Sessions(outbox.database).create(outbox.accountId, 'Firefox\r\nBcc: x@example.com');
    await send();
    expect(words()).toContain('Subject: New sign-in to Daypass');
    expect(words()).toContain('Firefox Bcc: x@example.com');
    expect(outbox.server.received.flatMap(({ to }) => to)).toEqual(['ani@example.com']);
  });

  it('a mail is sent about a new key', async () => {
    await rotate();
    await send();
    expect(words()).toContain('Subject: Your key has been replaced');
  });

  it('a mail that is skipped holds up no other one', async () => {
    await record('plan.ending', { accountId: outbox.accountId, endsAt: new Date(0).toISOString() });
    await record('order.paid', { orderId: randomUUID(), accountId: outbox.accountId });
    await rotate();
    await send();
    expect([await states(), outbox.server.received.length]).toEqual([
      ['skipped: the plan ends at another time now', 'skipped: the order has no payment', 'sent'],
      1,
    ]);
  });

  it('a mail about a changed address is sent to the former one', async () => {
    await outbox.database.query(`update account set email = 'new@example.com', former_email = 'ani@example.com'`);
    await record('account.email_changed', { accountId: outbox.accountId });
    await send();
    expect(outbox.server.received.map(({ to }) => to)).toEqual([['ani@example.com']]);
    expect(words()).toContain('Subject: Your Daypass account has a new e-mail address');
  });

  it('a mail about an announcement is in the language of the account, and is not sent when it has ended', async () => {
    await outbox.database.query(`update account set language = 'id'`);
    for (const until of ['2021-01-01T00:00Z', '2060-01-01T00:00Z'])
      await record('announcement.published', { accountId: outbox.accountId, announcementId: await announce(until) });
    await send();
    expect(await states()).toEqual(['skipped: the announcement has ended', 'sent']);
    expect(words()).toContain('Kami pindah.');
    expect(words()).toContain('/status');
  });

  it('a mail is sent once for each event, by four workers at once', async () => {
    for (let event = 0; event < 8; event++) await rotate();
    await Promise.all([send(), send(), send(), send()]);
    await send();
    const ids = outbox.server.received.map(({ raw }) => /^Message-ID: (.+)$/m.exec(raw)?.[1]);
    expect([ids.length, new Set(ids).size]).toEqual([8, 8]);
  });

  it('a mail has an id that names event and sender, the same for each try', async () => {
    await rotate();
    await send();
    expect(/^Message-ID: <(.+)>\r?$/m.exec(outbox.server.received[0]?.raw ?? '')?.[1]).toMatch(
      /^daypass-\d+-\d{13}@gateway\.example$/,
    );
  });

  it('a mail gives the address of the contact', async () => {
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

  it('a mail that cannot be written fails with a line in the log, and holds up no other one', async () => {
    await record('plan.ended', { accountId: outbox.accountId, endsAt: 'never' });
    await rotate();
    const lines = await send();
    expect(await states()).toEqual(['failed: it cannot be written', 'sent']);
    expect(lines[0]).toMatch(/^error +the mail about event \d+ cannot be composed/);
    expect(lines[1]).toMatch(/\(plan\.ended\) could not be sent and is not retried: it cannot be written$/);
  });

  it('a mail leaves no address in the table of mails', async () => {
    await rotate();
    await send();
    const [row] = await outbox.database.query<{ row: string }>(
      'select row_to_json(m)::text as row from mail_message m',
    );
    expect(row?.row).not.toContain('ani@example.com');
  });
});

describe('nothing', () => {
  it('nothing is sent, and nothing waits to be sent, without mail in gateway.yaml', async () => {
    await rotate();
    await send({});
    expect([await states(), outbox.server.connections()]).toEqual([[], 0]);
  });

  it.each<[string, string]>([
    ['an account without an address', 'update account set email = null where id = ?'],
    ['two addresses', `update account set email = 'ani@example.com,victim@example.com' where id = ?`],
    ['an address with a space', `update account set email = 'ani @example.com' where id = ?`],
    ['a blocked account', 'update account set blocked_at = now() where id = ?'],
    ['a deleted account', 'update account set deleted_at = now() where id = ?'],
  ])('nothing is sent to %s', async (_name, sql) => {
    await outbox.database.query(sql, [outbox.accountId]);
    await rotate();
    await send();
    expect([(await states())[0]?.split(':')[0], outbox.server.received]).toEqual(['skipped', []]);
  });

  it('nothing is sent about a plan that was renewed meanwhile', async () => {
    const endsAt = await addPeriod(3_600);
    await record('plan.ending', { accountId: outbox.accountId, endsAt });
    await record('plan.ended', { accountId: outbox.accountId, endsAt });
    await addPeriod(90_000);
    await send();
    expect(await states()).toEqual([
      'skipped: the plan ends at another time now',
      'skipped: the plan has been renewed',
    ]);
  });

  it('nothing is sent about the end of a plan that was bought just now', async () => {
    const endsAt = await addPeriod(3_600);
    await outbox.database.query('alter table plan_period disable trigger user');
    await outbox.database.query('update plan_period set created_at = now()');
    await record('plan.ending', { accountId: outbox.accountId, endsAt });
    await send();
    expect(await states()).toEqual(['skipped: the plan was bought a short time ago']);
  });

  it('no mail asks to renew a plan that a refund has ended, and one says so to the receiver of a gift', async () => {
    const endsAt = await addPeriod(-60);
    const orderId = await addOrder();
    await outbox.database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, replaces, order_id)
       select gen_random_uuid(), account_id, starts_at, ends_at, days, 'refund', id, ? from plan_period`,
      [orderId],
    );
    expect(await outcomeOf('plan.ended', endsAt)).toBe('skipped: the plan ended by a refund');
    const giver = await createAccount(outbox.database, 'dp', { name: 'Budi' });
    await outbox.database.query('update plan_order set account_id = ?', [giver.accountId]);
    expect(await outcomeOf('plan.ended', endsAt)).toBe('sent');
    expect(words()).toContain('Subject: Your gift was refunded');
    expect(words()).toContain('was refunded to its giver');
    expect(words()).not.toContain('Renew');
  });

  it('nothing is sent a second time about an end that only some time for an outage has moved', async () => {
    const ended = await addPeriod(-3 * 86_400);
    const skipped = 'skipped: only time for an outage was added since the mail before';
    expect(await outcomeOf('plan.ended', ended)).toBe('sent');
    expect(await outcomeOf('plan.ended', await giveBack(-40, -39))).toBe(skipped);
    expect(await outcomeOf('plan.ending', await giveBack(-4, 1))).toBe(skipped);
    // Longer while it ran: the mail about its last day was due before, that about its end was not.
    const longer = await giveBack(-4, 2, -2, true);
    expect(await outcomeOf('plan.ending', longer)).toBe(skipped);
    // What is given back for days is a pass again.
    expect(await outcomeOf('plan.ending', await giveBack(-4, 30, -2, true))).toBe('sent');
    expect(outbox.server.received).toHaveLength(2);
  });

  it('nothing is sent about time that was given back where mails about it are turned off', async () => {
    await record('outage.credited', { accountId: outbox.accountId, outageId: randomUUID() });
    await send();
    expect(await states()).toEqual(['skipped: mails about outages are turned off']);
  });

  it('nothing is sent about ending plans when reminders are turned off', async () => {
    await record('plan.ending', { accountId: outbox.accountId, endsAt: await addPeriod(3_600) });
    await send({ ...settings(), plan_ending: false });
    expect(await states()).toEqual(['skipped: reminders are turned off']);
  });

  it('nothing is sent about the first sign-in', async () => {
    await outbox.database.query('update account set created_at = now() where id = ?', [outbox.accountId]);
    await new Sessions(outbox.database).create(outbox.accountId, 'Firefox');
    await send();
    expect(await states()).toEqual(['skipped: it is the first sign-in']);
  });

  it('nothing is sent about events of the day before yesterday', async () => {
    await rotate();
    await outbox.database.query(`update account_event set created_at = now() - interval '25 hours'`);
    await send();
    expect([await states(), outbox.server.received]).toEqual([[], []]);
  });
});
