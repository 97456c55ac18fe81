import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { flagOrder } from '#core/business/payments/flags.ts';
import type { FlagKind } from '#core/business/payments/order-types.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createCheckProblems } from '#core/web/problems/check-problems.ts';
import { moneyProblems } from '#core/web/problems/money-problems.ts';
import type { Problem, ProblemKind } from '#core/web/problems/problem.ts';
import { ownTexts, coreTexts } from '#core/web/serving/own-parts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { watchForAlerts } from '../../../plugins/mail/alerts/watch.ts';
import { sendDueWebhooks, signWebhook } from '../../../plugins/mail/alerts/webhook.ts';
import { createSendJobs } from '../../../plugins/mail/jobs.ts';
import { sendDueMails } from '../../../plugins/mail/send-mails.ts';
import { createTestDatabase } from '../../support/database.ts';
import { closedPort } from '../../support/dead-ends.ts';
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts';

const secret = 'a secret of the operator';
const healthChecks = new Map([
  ['disk', { name: 'disk', check: () => ({ ok: false as const, reason: 'The disk is nearly full.', since: 0 }) }],
]);
const registered = (checks: HealthChecks['healthChecks'], more: readonly ProblemKind[] = []) => ({
  mailKinds: new Map(),
  healthChecks: checks,
  pageTexts: [ownTexts, ...coreTexts],
  problems: new Map(
    [...moneyProblems, createCheckProblems({ healthChecks: checks }), ...more].map((kind) => [kind.name, kind]),
  ),
});
const gateway = registered(healthChecks);

interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let database: Database;
let mails: TestMailServer;
let receiver: Server;
let calls: Call[];
let status = 204;
beforeAll(async () => {
  database = await createTestDatabase();
  mails = await startMailServer();
  receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    calls.push({ headers: request.headers, body });
    response.writeHead(status, { location: '/elsewhere' }).end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await mails[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
beforeEach(() => {
  calls = [];
  status = 204;
});
afterEach(async () => {
  mails.received.length = 0;
  await database.query('delete from mail_message');
  await database.query('delete from account_event');
  await database.query('delete from payment_notification');
  await database.query('delete from order_flag');
});

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const createHost = (port = portOf(receiver), now = Date.now()) =>
  createTestHost({
    database,
    now,
    sections: {
      mail: { smtp: `smtp://127.0.0.1:${mails.port}`, from: 'no-reply@gateway.example' },
      alerts: { mail: 'Boss@example.com', webhook: { url: `http://127.0.0.1:${port}/hook`, secret } },
    },
  });

async function sendWebhooks(port?: number): Promise<readonly string[]> {
  await using host = createHost(port);
  await sendDueWebhooks(host, gateway);
  return host.lines;
}

async function sendMails(): Promise<string> {
  await using host = createHost();
  await sendDueMails(host, gateway);
  return mails.received.map(({ raw }) => raw.replace(/=\r\n/g, '')).join('\n');
}

async function runJob(name: string): Promise<void> {
  await using host = createHost();
  await createSendJobs(gateway)
    .find((job) => job.name === name)
    ?.run({} as never, host);
}

async function watch(now: number): Promise<void> {
  await using host = createHost(undefined, now);
  await watchForAlerts(host, gateway);
}

/** An order of Rp 95.000 with a charge. */
async function ordered(code: string): Promise<{ readonly orderId: string; readonly accountId: string }> {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
  const orderId = randomUUID();
  await database.query(
    `with o as (
       insert into plan_order (id, code, account_id, days, price, currency, provider, state, expires_at)
       values (?, ?, ?, 7, 95000, 'IDR', 'sandbox', 'pending', now())
     )
     insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at)
     values (?, ?, 1, 'sandbox', 95000, 'IDR', now())`,
    [orderId, code, accountId, `${code}.1`, orderId],
  );
  return { orderId, accountId };
}

/** One with a flag about a payment of Rp 59.000. @returns its id */
async function flagged(code: string): Promise<string> {
  const { orderId, accountId } = await ordered(code);
  await database.query(
    `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
     values (gen_random_uuid(), ?, ?, 'sandbox', ?, 59000, 'IDR', now(), 'wrong_amount', '{}')`,
    [orderId, `${code}.1`, `py-${code}`],
  );
  await database
    .fork()
    .transactional((transaction) => flagOrder(transaction, { orderId, accountId }, 'wrong_amount', `py-${code}`));
  return orderId;
}

/** Adds another flag to it. */
async function flagAgain(orderId: string, kind: FlagKind, about: string): Promise<void> {
  const [order] = await database.query<{ accountId: string }>(
    'select account_id as "accountId" from plan_order where id = ?',
    [orderId],
  );
  const { accountId = '' } = order ?? {};
  await database.fork().transactional((transaction) => flagOrder(transaction, { orderId, accountId }, kind, about));
}

const states = async () => {
  const rows = await database.query<{ channel: string; state: string }>(
    'select channel, state from mail_message order by channel',
  );
  return rows.map(({ channel, state }) => `${channel} ${state}`);
};
const makeDue = () => database.query(`update mail_message set next_at = now() where state = 'waiting'`);
const verified = ({ headers, body }: Call) =>
  headers['webhook-signature'] ===
  signWebhook(secret, String(headers['webhook-id']), String(headers['webhook-timestamp']), body);

describe('a flagged order', () => {
  it('reaches the webhook at once, signed, with what came and where to decide', async () => {
    await flagged('ORD-HOOK');
    await sendWebhooks();
    const [call] = calls as [Call];
    expect([calls.length, verified(call)]).toEqual([1, true]);
    // In seconds: receivers refuse what is older than five minutes.
    expect(Math.abs(Number(call.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(300);
    expect(JSON.parse(call.body)).toMatchObject({
      id: call.headers['webhook-id'],
      type: 'order.flagged',
      service: 'Daypass',
      title: 'Order ORD-HOOK: Wrong amount',
      url: expect.stringMatching(/\/operator\/orders\/ORD-HOOK$/),
      data: { order: 'ORD-HOOK', reason: 'wrong_amount', price: 95_000, money: { amount: 59_000, currency: 'IDR' } },
    });
  });

  it('is sent by the jobs of each channel', async () => {
    await flagged('ORD-JOBS');
    await runJob('send-webhooks');
    expect([calls.length, mails.received.length]).toEqual([1, 0]);
    await runJob('send-mails');
    expect([calls.length, mails.received.length]).toEqual([1, 1]);
  });

  it('is the only one that a receiver which fails is asked about in a run', async () => {
    status = 500;
    await flagged('ORD-FIRST');
    await flagged('ORD-SECOND');
    const lines = await sendWebhooks();
    expect([calls.length, lines.length]).toEqual([1, 1]);
    expect(lines[0]).toMatch(
      /^warn {2}the alert order\.flagged \(event \d+\) did not reach alerts\.webhook and is retried/,
    );
    status = 204;
    await makeDue();
    await sendWebhooks();
    expect(calls).toHaveLength(3);
  });

  it('reaches the operator by mail, and no customer', async () => {
    await flagged('ORD-MAIL');
    const text = await sendMails();
    expect(mails.received.map(({ to }) => to)).toEqual([['Boss@example.com']]);
    expect(text).toContain('Subject: Order ORD-MAIL: Wrong amount');
    expect(text).toContain('/operator/orders/ORD-MAIL');
  });

  it('says until when the buyer was promised a decision, a day after it was flagged', async () => {
    await flagged('ORD-DUE');
    await database.query(`update order_flag set created_at = '2026-11-20 03:00Z'`);
    await sendWebhooks();
    expect(JSON.parse(calls[0]?.body ?? '').data.decide_by).toBe('2026-11-21T03:00:00.000Z');
    expect((await sendMails()).replaceAll('\u00a0', ' ')).toContain('10:00');
  });

  it('names no time where the buyer was promised nothing', async () => {
    await flagAgain(await flagged('ORD-BANK'), 'disputed', 'py-ORD-BANK');
    await sendWebhooks();
    const due = calls.map(({ body }) => JSON.parse(body).data).map((data) => [data.reason, data.decide_by !== null]);
    expect(due.toSorted()).toEqual([
      ['disputed', false],
      ['wrong_amount', true],
    ]);
    await sendMails();
    expect(mails.received.filter(({ raw }) => raw.includes('Buyer was promised'))).toHaveLength(1);
  });

  it('has words for its reason in both languages', async () => {
    const kinds = await database.query<{ kind: string }>(
      `select unnest(regexp_matches(pg_get_constraintdef(oid), '''(\\w+)''', 'g')) as kind from pg_constraint
       where conname = 'order_flag_kind_check'`,
    );
    const texts = (['en', 'id'] as const).flatMap((language) =>
      kinds.map(({ kind }) => new Translator(gateway.pageTexts).in(language)(`alert.reason.${kind}`)),
    );
    expect(texts.length).toBeGreaterThan(24);
    expect(texts.filter((text) => text.startsWith('alert.'))).toEqual([]);
  });

  it('is mailed to the operator again if it is unknown whether the mail was accepted', async () => {
    await flagged('ORD-UNSURE');
    await using deaf = await startMailServer({
      onData: (stream) => void stream.resume(),
    });
    await using host = createTestHost({
      database,
      now: Date.now(),
      sections: {
        mail: { smtp: `smtp://127.0.0.1:${deaf.port}`, from: 'no-reply@gateway.example' },
        alerts: { mail: 'Boss@example.com' },
      },
    });
    await sendDueMails(host, gateway, { connect: 30_000, greeting: 30_000, idle: 500, mail: 30_000 });
    expect(await states()).toEqual(['operator waiting']);
    await makeDue();
    await sendMails();
    expect([await states(), mails.received.length]).toEqual([['operator sent'], 1]);
    expect(mails.received[0]?.raw).toMatch(/^Message-ID: <daypass-\d+-o\d{13}@gateway\.example>\r?$/m);
  });

  it('is sent once on each channel, by four workers at once', async () => {
    for (let order = 0; order < 6; order++) await flagged(`ORD-ONCE-${order}`);
    await Promise.all([sendWebhooks(), sendWebhooks(), sendWebhooks(), sendWebhooks()]);
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(6);
    expect(calls).toHaveLength(6);
  });

  it('about a refund has the amount of the refund', async () => {
    const orderId = await flagged('ORD-BACK');
    await database.query(
      `insert into refund (key, order_id, payment_id, amount, currency, state, days, is_manual, reason)
       select 'ORD-BACK-R1', order_id, id, 30000, 'IDR', 'failed', 'none', false, 'asked for' from payment where order_id = ?`,
      [orderId],
    );
    await flagAgain(orderId, 'refund_failed', 'ORD-BACK-R1');
    await sendWebhooks();
    const alerts = calls.map(({ body }) => JSON.parse(body).data);
    expect(alerts.find(({ reason }) => reason === 'refund_failed')?.money).toEqual({ amount: 30_000, currency: 'IDR' });
  });

  it('with two flags of a kind is two alerts, each with its own money, and without the resolved one', async () => {
    const orderId = await flagged('ORD-TWO');
    await database.query(
      `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
       select gen_random_uuid(), order_id, reference, provider, 'py-again', 58000, currency, now(), outcome, '{}'
       from payment where order_id = ?`,
      [orderId],
    );
    await flagAgain(orderId, 'wrong_amount', 'py-again');
    await sendWebhooks();
    const amounts = calls.map(({ body }) => JSON.parse(body).data.money.amount);
    expect(amounts.toSorted()).toEqual([58_000, 59_000]);
    await database.query(
      `update order_flag set resolved_at = now(), resolution = 'paid back' where subject = 'py-again'`,
    );
    await sendMails();
    expect(mails.received).toHaveLength(1);
  });

  it('is not sent when it was resolved meanwhile', async () => {
    await flagged('ORD-DONE');
    await database.query(`update order_flag set resolved_at = now(), resolution = 'paid back'`);
    await sendWebhooks();
    expect([calls, await states()]).toEqual([[], ['webhook skipped']]);
  });
});

it('a run of twenty seconds leaves the other alerts to the next one', async () => {
  await flagged('ORD-SLOW');
  await flagged('ORD-NEXT');
  const [now, begun] = [performance.now.bind(performance), performance.now()];
  // The first answer takes so long.
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (calls.length > 0 ? begun + 60_000 : now()));
  try {
    await sendWebhooks();
    expect(calls).toHaveLength(1);
  } finally {
    clock.mockRestore();
  }
  await sendWebhooks();
  expect(calls).toHaveLength(2);
});

describe("a problem of a plugin's own", () => {
  it('is alerted to by the event that it names', async () => {
    const waiting: ProblemKind = {
      name: 'waiting',
      order: 200,
      find: () => [],
      alert: {
        event: 'place.reserved',
        compose: async ({ entryId = '' }) => ({
          title: 'A place waits',
          text: 'For a day.',
          facts: [],
          path: '/operator/sales',
          data: { entryId, heldUntil: undefined },
        }),
      },
    };
    const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
    const reserved = { accountId, entryId: randomUUID() };
    await database.fork().transactional((tx) => recordEvent(tx, 'place.reserved', reserved, randomUUID()));
    await using host = createHost();
    await sendDueWebhooks(host, gateway);
    expect(calls).toEqual([]);
    await sendDueWebhooks(host, registered(healthChecks, [waiting]));
    expect(calls.map(({ body }) => JSON.parse(body))).toMatchObject([
      {
        type: 'place.reserved',
        title: 'A place waits',
        // With the names that its webhook had before 0.6, until 0.7.
        data: { entry_id: reserved.entryId, entryId: reserved.entryId, held_until: null },
      },
    ]);
  });
});

describe('an alert of which nothing tells any more', () => {
  it('is left to other instances for three days and then not sent, and holds up no other one', async () => {
    await database.query(
      `with e as (
         insert into account_event (name, payload, dedupe_key) select 'stock.low', '{}', gen_random_uuid()::text from generate_series(1, 2) returning id
       )
       insert into mail_message (event_id, channel) select id, 'webhook' from e`,
    );
    await database.query(`update account_event set created_at = now() - interval '71 hours'`);
    await flagged('ORD-AFTER');
    expect(await sendWebhooks()).toEqual([]);
    expect((await states()).toSorted()).toEqual(['webhook sent', 'webhook waiting', 'webhook waiting']);
    await database.query(`update account_event set created_at = now() - interval '73 hours' where name = 'stock.low'`);
    expect(await sendWebhooks()).toEqual([]);
    expect([calls.length, (await states()).toSorted()]).toEqual([
      1,
      ['webhook sent', 'webhook skipped', 'webhook skipped'],
    ]);
  });
});

describe('a receiver that fails', () => {
  it.each([500, 404, 302])('with %i is asked again with the same id, and a line is logged', async (failure) => {
    await flagged(`ORD-${failure}`);
    status = failure;
    expect(await sendWebhooks()).toEqual([
      expect.stringMatching(/did not reach alerts\.webhook and is retried: the receiver answered \d+/),
    ]);
    expect(await states()).toEqual(['webhook waiting']);
    status = 200;
    await makeDue();
    await sendWebhooks();
    expect(await states()).toEqual(['webhook sent']);
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('and sends nothing is left after the deadline, and asked again', async () => {
    await flagged('ORD-SILENT');
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    await using host = createHost(portOf(silent));
    await sendDueWebhooks(host, gateway, 200);
    silent.closeAllConnections();
    silent.close();
    expect(host.lines).toEqual([expect.stringMatching(/is retried: no answer within 0\.2 s$/)]);
    expect(await states()).toEqual(['webhook waiting']);
  });

  it('is given up after three days', async () => {
    await flagged('ORD-LOST');
    const closed = await closedPort();
    await sendWebhooks(closed);
    await database.query(`update account_event set created_at = now() - interval '73 hours'`);
    await makeDue();
    const [line] = await sendWebhooks(closed);
    expect(line).toMatch(/is not retried: ECONNREFUSED/);
    expect(await states()).toEqual(['webhook failed']);
  });

  it('gets an alert again whose sender died', async () => {
    await flagged('ORD-DIED');
    await sendWebhooks(await closedPort());
    await database.query(`update mail_message set state = 'sending', next_at = now() - interval '1 second'`);
    await sendWebhooks();
    await makeDue();
    await sendWebhooks();
    expect(await states()).toEqual(['webhook sent']);
  });
});

describe('the signature', () => {
  it('is that of Standard Webhooks', () => {
    const sent = ['msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', '{"test": 2432232314}'] as const;
    expect(signWebhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', ...sent)).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });
});

async function reportPayment(minutes: number): Promise<void> {
  const code = `ORD-${randomUUID().slice(0, 8)}`;
  await ordered(code);
  await database.query(
    `insert into payment_notification (provider, event_key, reference, body, received_at)
     values ('sandbox', ?, ?, '{}', now() - make_interval(mins => ?))`,
    [randomUUID(), `${code}.1`, minutes],
  );
}

it.each([
  ['payment', 'xendit has money without an order'],
  ['refund', 'xendit has returned money without an order'],
] as const)('a %s that belongs to no order reaches the operator, with where to decide', async (kind, title) => {
  await database
    .fork()
    .transactional((transaction) =>
      recordEvent(
        transaction,
        'payment.unknown',
        { provider: 'xendit', kind, amount: 48_000, currency: 'IDR' },
        randomUUID(),
      ),
    );
  await sendWebhooks();
  expect(JSON.parse(calls[0]?.body ?? '')).toMatchObject({
    type: 'payment.unknown',
    title,
    url: expect.stringMatching(/\/operator\/flags$/),
    data: { provider: 'xendit', kind, money: { amount: 48_000, currency: 'IDR' } },
  });
  expect((await sendMails()).replace(/=C2=A0/g, ' ')).toContain('Rp 48.000');
});

describe('a payment that is not confirmed', () => {
  it('for ten minutes is one alert, however often it is looked at', async () => {
    await reportPayment(11);
    for (let look = 0; look < 3; look++) await watch(Date.now());
    await sendWebhooks();
    const types = calls.map(({ body }) => JSON.parse(body).type);
    expect(types.filter((type) => type === 'payments.delayed')).toHaveLength(1);
    const [event] = await database.query<{ since: string }>(
      `select payload ->> 'since' as since from account_event where name = 'payments.delayed'`,
    );
    expect(Math.round((Date.now() - Date.parse(event?.since ?? '')) / 60_000)).toBe(11);
  });

  it('is not reported any more when it is confirmed meanwhile', async () => {
    await reportPayment(11);
    await reportPayment(12);
    await watch(Date.now());
    await sendWebhooks();
    const delayed = calls.map(({ body }) => JSON.parse(body)).find(({ type }) => type === 'payments.delayed');
    expect(delayed?.data).toMatchObject({ waiting: 2, since: expect.any(String) });
    await database.query('update payment_notification set next_try_at = null');
    await sendMails();
    expect((await states())[0]).toBe('operator skipped');
  });

  it('for nine minutes is none', async () => {
    await reportPayment(9);
    await watch(Date.now());
    expect(await database.query(`select 1 from account_event where name = 'payments.delayed'`)).toEqual([]);
  });
});

describe('the daily report', () => {
  // Jakarta is at 06:59 and 07:00.
  const before = Date.UTC(2026, 10, 24, 23, 59);
  const after = Date.UTC(2026, 10, 25, 0, 0);

  it('is recorded once, from the hour on, about the day before', async () => {
    await watch(before - 86_400_000);
    await watch(after);
    await watch(after + 3_600_000);
    const rows = await database.query<{ day: string }>(
      `select payload ->> 'day' as day from account_event where name = 'day.reported' order by id`,
    );
    expect(rows).toEqual([{ day: '2026-11-24' }]);
  });

  it.each([
    ['a webhook alone', { webhook: { url: 'https://hooks.example.com', secret } }, 1],
    ['mail alone', { mail: 'boss@example.com' }, 1],
    ['neither', {}, 0],
  ])('with %s is recorded as often as anybody reads it', async (_title, alerts, count) => {
    await using host = createTestHost({ database, now: after, sections: { alerts } });
    await watchForAlerts(host, gateway);
    expect(await database.query(`select 1 from account_event where name = 'day.reported'`)).toHaveLength(count);
  });

  it('says so when nothing needs a decision', async () => {
    await database
      .fork()
      .transactional((transaction) => recordEvent(transaction, 'day.reported', { day: '2026-11-24' }, randomUUID()));
    await using host = createHost();
    await sendDueWebhooks(host, registered(new Map()));
    const [report] = calls.map(({ body }) => JSON.parse(body));
    expect(report).toMatchObject({ text: 'Nothing needs a decision.', data: { open_flags: {}, failing_checks: [] } });
    expect(Math.abs(Date.now() - Date.parse(report.created_at))).toBeLessThan(600_000);
  });

  it('counts and names what the overview lists under "Needs action", without hints', async () => {
    await flagged('ORD-NEEDS');
    await database
      .fork()
      .transactional((transaction) => recordEvent(transaction, 'day.reported', { day: '2026-11-24' }, randomUUID()));
    const down: Problem = {
      severity: 'bad',
      title: 'Down',
      subject: 'dp/gpt-6-sol',
      pieces: [{ text: 'dp/gpt-6-sol fails' }, { text: ', ani@example.com', isPersonal: true }],
      step: { path: '/operator/routes' },
    };
    const models = { name: 'model', order: 10, find: () => [down, { ...down, severity: 'info' as const }] };
    await using host = createHost();
    await sendDueWebhooks(host, registered(new Map(), [models]));
    const report = calls.map(({ body }) => JSON.parse(body)).find(({ type }) => type === 'day.reported');
    expect(report.title).toBe('Report of 2026-11-24: 2 things need you');
    expect(report.data.problems).toMatchObject([
      {
        problem: 'model',
        title: 'Down',
        text: 'dp/gpt-6-sol fails',
        subject: 'dp/gpt-6-sol',
        page: '/operator/routes',
      },
      { problem: 'order_flagged', subject: 'ORD-NEEDS' },
    ]);
    await sendDueMails(host, registered(new Map(), [models]));
    expect(mails.received.map(({ raw }) => raw).join()).toContain('dp/gpt-6-sol fails');
    expect(JSON.stringify([report, mails.received.map(({ raw }) => raw)])).not.toContain('ani@example.com');
  });

  it('names a problem that is alerted to, and one that cannot be read, unless a figure tells of it', async () => {
    await flagged('ORD-FIGURE');
    await database
      .fork()
      .transactional((transaction) => recordEvent(transaction, 'day.reported', { day: '2026-11-24' }, randomUUID()));
    const waiting: Problem = {
      severity: 'warn',
      title: 'A place waits',
      pieces: [{ text: 'Nobody was invited' }],
      step: { path: '/operator/sales' },
    };
    const alert = { event: 'place.reserved', compose: async () => 'it is told by day' } as const;
    const places = { name: 'places', order: 100, find: () => [waiting], alert };
    const stock = { name: 'stock', order: 101, find: () => Promise.reject(new Error('no such table')), alert };
    await using host = createHost();
    await sendDueMails(host, registered(new Map(), [places, stock]));
    const report = mails.received.find(({ raw }) => raw.includes('Report of'))?.raw.replace(/=\r\n/g, '');
    expect(report).toContain('3 things need you');
    expect(report).toContain('Nobody was invited');
    expect(report).toContain('no such table');
    expect(report).not.toContain('ORD-FIGURE');
  });

  it('needs no problem, and an event that no problem tells of is not sent', async () => {
    await flagged('ORD-GONE');
    await using host = createHost();
    await sendDueWebhooks(host, { healthChecks: new Map() });
    expect([calls, await states()]).toEqual([[], []]);
  });

  it('names open flags and failing checks', async () => {
    await flagged('ORD-REPORT');
    await database
      .fork()
      .transactional((transaction) => recordEvent(transaction, 'day.reported', { day: '2026-11-24' }, randomUUID()));
    await sendWebhooks();
    const report = calls.map(({ body }) => JSON.parse(body)).find(({ type }) => type === 'day.reported');
    expect(report.data).toMatchObject({
      day: '2026-11-24',
      orders: 0,
      open_flags: { wrong_amount: 1 },
      failing_checks: [{ name: 'disk', reason: 'The disk is nearly full.' }],
    });
    expect(report.text).toBe('The items below revenue and orders need a decision.');
    expect(await sendMails()).toContain('The disk is nearly full.');
  });
});
