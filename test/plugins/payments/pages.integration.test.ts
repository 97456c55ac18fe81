import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'fast-png';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endOrderPeriod, grantDays } from '#core/business/accounts/ledger.ts';
import { checkNow } from '#core/business/payments/checkout.ts';
import { resolveFlag } from '#core/business/payments/flags.ts';
import { readOrder } from '#core/business/payments/order.ts';
import { readQris } from '#core/business/payments/qris.ts';
import { closeRefund, refundOrder } from '#core/business/payments/refunds.ts';
import { settle } from '#core/business/payments/settle.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createBuyer, referenceOf } from '../../core/business/payments/fixture.ts';
import type { Browser } from '../../core/web/page-fixture.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { readQr } from '../../support/read-qr.ts';
import { redeemCode } from '../../support/redeem-code.ts';
import { tablesHere } from '../../support/registered.ts';
import { FakeQris, serveShop } from './fixture.ts';

let database: Database;
let provider: FakeQris;
let shop: Awaited<ReturnType<typeof serveShop>>;
let browser: Browser;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase(silentLog, await tablesHere());
  await database.query('create table request_log_p partition of request_log default');
  provider = new FakeQris();
  shop = await serveShop(database, provider);
});

beforeEach(async () => {
  provider.charges.clear();
  provider.calls.length = 0;
  provider.failures.clear();
  ({ browser, accountId } = await shop.signIn());
});

afterAll(() => database[Symbol.asyncDispose]());

/** @returns the path of the order */
async function buy(days = 7): Promise<string> {
  const { headers, statusCode } = await browser.send('/buy', { days: String(days) });
  expect(statusCode).toBe(303);
  return String(headers.location);
}

/** Enters money that came beside the payment of an order, and its flag. */
async function addExtra(orderId: string, amount: number, [outcome, kind]: readonly [string, string]): Promise<string> {
  const name = randomUUID();
  await database.query(
    `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
     select gen_random_uuid(), order_id, reference, provider, ?, ?, 'IDR', now(), ?, '{}'
     from payment where order_id = ? and outcome = 'activated'`,
    [name, amount, outcome, orderId],
  );
  await database.query(`insert into order_flag (id, order_id, kind, subject) values (gen_random_uuid(), ?, ?, ?)`, [
    orderId,
    kind,
    name,
  ]);
  return name;
}

let refunded = 0;
const giveBack = (paymentId: string, amount: number) =>
  database.query(
    `insert into refund (key, order_id, payment_id, amount, currency, state, days, reason, finished_at)
     select ?, order_id, id, ?, 'IDR', 'done', 'none', 'paid twice', now() from payment where payment_id = ?`,
    [`R${++refunded}`, amount, paymentId],
  );

/** Resolves the flag of a payment without giving its money back. */
async function decide(subject: string): Promise<void> {
  const [flag] = await database.query<{ id: string }>('select id::text from order_flag where subject = ?', [subject]);
  await resolveFlag(database, flag?.id ?? '', 'gave seven days');
}

const secondPayment = ['second', 'second_payment'] as const;

const codeOf = (path: string) => path.split('/')[2] ?? '';
const orderAt = async (path: string) => (await readOrder(database, { code: codeOf(path) }))!;
const setState = (path: string, state: string) =>
  database.query('update plan_order set state = ? where code = ?', [state, codeOf(path)]);

/** Pays at the provider, and settles as a check would. */
async function pay(path: string, amount?: number): Promise<void> {
  const order = await orderAt(path);
  provider.pay(referenceOf(order), amount === undefined ? undefined : { amount, currency: 'IDR' });
  await settle(shop.host, provider.name, provider.evidence(referenceOf(order)));
}

const textOf = (html: string) =>
  html
    .replace(/<\/?strong>/g, '')
    .replace(/<svg[^]*?<\/svg>|<[^>]+>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/[ \n]+/g, ' ');

describe('the page of plans', () => {
  it('shows each plan with its price, the price of a day, and when it starts', async () => {
    const text = textOf((await browser.get('/buy?days=7')).payload);
    expect(text).toContain('Rp\u00a095.000 Rp\u00a013.571 per day');
    expect(text).toContain('Starts as soon as it is paid');
    expect(text).toContain('Pay Rp\u00a095.000');
  });

  it('chooses the plan that the address names', async () => {
    expect((await browser.get('/buy?days=30')).payload).toMatch(/value="30" checked/);
    expect((await browser.get('/buy?days=31')).payload).toMatch(/value="30" checked/); // the one in the middle
  });

  it('starts a renewal at the end of the current pass', async () => {
    await pay(await buy());
    expect(textOf((await browser.get('/buy')).payload)).toMatch(
      /Starts \w+ \d+ \w+, \d\d:\d\d, after the current pass/,
    );
  });

  it('takes the price from gateway.yaml, whatever the browser sends', async () => {
    const { headers } = await browser.send('/buy', { days: '7', price: '1', currency: 'USD' });
    expect(await orderAt(String(headers.location))).toMatchObject({ price: 95_000, currency: 'IDR' });
  });

  it('makes one order of a double click and two tabs', async () => {
    const tabs = await Promise.all([browser.token('/buy', '/buy'), browser.token('/buy', '/buy')]);
    const sent = [tabs[0], tabs[0], tabs[1]].map((form_token) => browser.post('/buy', { form_token, days: '7' }));
    const paths = (await Promise.all(sent)).map(({ headers }) => headers.location);
    expect(new Set(paths).size).toBe(1);
    expect(provider.charges.size).toBe(1);
  });

  it('leads back to an order that is still open', async () => {
    const path = await buy();
    expect((await browser.get('/buy')).payload).toContain(`<a href="${path}">Continue with order ${codeOf(path)}</a>`);
  });

  it('refuses a plan that is not sold, and days beyond a year', async () => {
    expect((await browser.send('/buy', { days: '8' })).payload).toContain('This plan is no longer sold.');
    await buy(200);
    await pay(await buy(200));
    const { statusCode, payload } = await browser.send('/buy', { days: '200' });
    expect([statusCode, payload.includes('You can hold at most a year in advance.')]).toEqual([422, true]);
  });

  it('asks visitors to sign in, and leads back to the plan', async () => {
    const { headers } = await shop.server.inject({ url: '/buy?days=7', headers: { accept: 'text/html' } });
    expect(headers.location).toBe('/sign-in?next=%2Fbuy%3Fdays%3D7');
  });
});

describe('the pay page', () => {
  it('shows amount, receiver, end time and steps, and reloads by itself without JavaScript', async () => {
    const { payload } = await browser.get(await buy());
    const text = textOf(payload);
    expect(text).toContain('Pay by QRIS Rp\u00a095.000');
    expect(text).toContain('Check the name DAYPASS DEMO and Rp\u00a095.000, then pay.');
    expect(text).toMatch(/Pay before \d+ \w+ \d{4}/);
    expect(payload).toContain('<noscript><meta http-equiv="refresh" content="10"></noscript>');
  });

  it('names the receiver and its national id beside the code', async () => {
    const { payload } = await browser.get(await buy());
    expect(textOf(payload)).toContain('DAYPASS DEMO NMID: ID0000000000000');
  });

  it('in test mode of the provider has the command that simulates the payment in place of the code', async () => {
    const tested = new FakeQris();
    tested.connection.simulation = ({ reference }) => `simulate ${reference}`;
    ({ browser } = await (await serveShop(database, tested)).signIn());
    const path = await buy();
    const { payload } = await browser.get(path);
    expect(textOf(payload)).toContain('no wallet can pay this order');
    expect(textOf(payload)).toContain(`simulate ${codeOf(path)}.1`);
    expect(payload).not.toContain('class="qr"');
    expect((await browser.get(`${path}/qr.png`)).statusCode).toBe(404);
  });

  it('has the QRIS mark of the operator’s file, and none where it cannot be used', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'daypass-mark-'));
    try {
      const file = join(folder, 'qris.png');
      await writeFile(
        file,
        encode({ width: 4, height: 1, channels: 1, depth: 8, data: new Uint8Array([0, 0, 0, 255]) }),
      );
      ({ browser } = await (await serveShop(database, provider, { payments: { qris_mark: file } })).signIn());
      const path = await buy();
      expect((await browser.get(path)).payload).toMatch(
        /<img class="mark" src="data:image\/png;base64,[\w+/=]+" alt="QRIS">/,
      );
      expect(readQris(readQr((await browser.get(`${path}/qr.png`)).rawPayload).text).amount).toBe(95_000);
      const none = await serveShop(database, provider, { payments: { qris_mark: `${file}.missing` } });
      ({ browser } = await none.signIn());
      expect((await browser.get(await buy())).payload).not.toContain('class="mark"');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('offers the code as a picture of that amount', async () => {
    const path = await buy();
    const { rawPayload, headers } = await browser.get(`${path}/qr.png`);
    const { text, width } = readQr(rawPayload);
    expect(headers['content-disposition']).toBe(`attachment; filename="daypass-${codeOf(path)}.png"`);
    expect([readQris(text).amount, width >= 1024]).toEqual([95_000, true]);
  });

  it.each([
    ['expired', 'This QR has expired. Do not pay it.', 'Make a new QR'],
    ['failed', 'The payment failed.', 'Try again'],
    ['cancelled', 'This order was cancelled.', 'Choose a plan'],
  ])('of an order that is %s has no code, and names the way on', async (state, title, action) => {
    const path = await buy();
    await setState(path, state);
    const { payload } = await browser.get(path);
    expect(textOf(payload)).toContain(title);
    expect(payload).toContain(action);
    expect(payload).not.toContain('class="qr"');
    expect((await browser.get(`${path}/qr.png`)).statusCode).toBe(404);
  });

  it('removes the code when the time is over, before anything has noticed', async () => {
    const path = await buy();
    await database.query('update plan_order set expires_at = clock_timestamp() where code = ?', [codeOf(path)]);
    expect((await browser.get(path)).payload).not.toContain('class="qr"');
  });

  it('says that the code is being made while the provider does not answer', async () => {
    provider.fail('charge');
    expect(textOf((await browser.get(await buy())).payload)).toContain('Preparing your QR code');
  });

  it('says that a payment was seen while its notification is being checked', async () => {
    const path = await buy();
    await database.query(
      "insert into payment_notification (provider, event_key, reference, body) values ('fake', ?, ?, '')",
      [path, referenceOf(await orderAt(path))],
    );
    const { payload } = await browser.get(path);
    expect([textOf(payload).includes('Payment detected, verifying'), payload.includes('class="qr"')]).toEqual([
      true,
      false,
    ]);
  });

  it('tells who paid another amount until when it is decided, and whom to write to when that has passed', async () => {
    const path = await buy();
    await pay(path, 59_000);
    const text = textOf((await browser.get(path)).payload);
    expect(text).toContain('We received Rp\u00a059.000, not Rp\u00a095.000.');
    expect(text).toMatch(
      /Do not pay again\. By \d+ \w+ \d{4}, \d\d:\d\d.* you get either your days or your money back\./,
    );
    expect(text).not.toContain('Write to');
    // The page promises to show the decision.
    expect((await browser.get(path)).payload).toContain(`sse-connect="${path}/live"`);
    await database.query(`update order_flag set created_at = now() - interval '25 hours'`);
    expect(textOf((await browser.get(path)).payload)).toContain(
      `Do not pay again. We are late. Write to help@example.com with order ${codeOf(path)}.`,
    );
  });

  it('shows when the money of a wrong amount went back, or since when it is on its way', async () => {
    const path = await buy();
    await pay(path, 59_000);
    const { id, payments } = await orderAt(path);
    const key = `${codeOf(path)}-R1`;
    await database.query(
      `insert into refund (key, order_id, payment_id, amount, currency, state, days, reason)
       values (?, ?, ?, 9000, 'IDR', 'sent', 'none', 'wrong amount')`,
      [key, id, payments[0]?.id],
    );
    expect(textOf((await browser.get(path)).payload)).toMatch(
      /We received .* money back\..* The refund of Rp\u00a09\.000 started on \d+ \w+ \d{4}, \d\d:\d\d/,
    );
    await database.query('update refund set amount = 59000 where key = ?', [key]);
    const underWay = textOf((await browser.get(path)).payload);
    expect(underWay).toMatch(/We received .* The refund of Rp\u00a059\.000 started on/);
    expect(underWay).not.toContain('either your days');
    await closeRefund({ database }, key, 'done', 'the provider says so');
    const text = textOf((await browser.get(path)).payload);
    expect(text).toMatch(
      /We received Rp\u00a059\.000, not Rp\u00a095\.000\. Decided on .* Rp\u00a059\.000 was refunded on \d+ \w+ \d{4}, \d\d:\d\d/,
    );
    expect(text).not.toContain('Paid already?');
  });

  it('removes a code that was paid with another amount, also after the operator has resolved that', async () => {
    const path = await buy();
    await pay(path, 59_000);
    await resolveFlag(database, (await orderAt(path)).id, 'paid back');
    const { payload } = await browser.get(path);
    expect((await orderAt(path)).state).toBe('cancelled');
    expect(payload).not.toContain('class="qr"');
  });

  it('is headed by the other amount that came, in both languages', async () => {
    const path = await buy();
    await pay(path, 59_000);
    const text = textOf((await browser.get(path)).payload);
    expect(text).toContain('Payment of Rp\u00a059.000 received, being checked');
    expect(text).not.toMatch(/Pay by QRIS|as soon as it is paid/);
    const { payload } = await browser.get(path, { 'accept-language': 'id' });
    expect(textOf(payload)).toContain('Pembayaran Rp\u00a059.000 diterima, sedang dicek');
  });

  it('keeps saying what came after the operator has decided with a note alone, here and in the list', async () => {
    const path = await buy();
    await pay(path, 59_000);
    await resolveFlag(database, (await orderAt(path)).id, 'gave three days');
    const text = textOf((await browser.get(path)).payload);
    expect(text).toMatch(
      /We received Rp\u00a059\.000, not Rp\u00a095\.000\. Decided on \d+ \w+ \d{4}, \d\d:\d\d.* Write to help@example\.com with order/,
    );
    expect(text).not.toMatch(/Choose a plan|cancelled|Paid already|gave three days/);
    expect(textOf((await browser.get('/orders')).payload)).toContain('Wrong amount, settled');
  });

  it.each([
    ['days_given', 'you were given days for it.', 'kamu mendapat hari sebagai gantinya.'],
    ['money_back', 'the money goes back to you.', 'uangnya dikembalikan kepadamu.'],
    ['kept', 'the payment was kept.', 'pembayaran ini tidak dikembalikan.'],
  ] as const)('says what the operator decided about another amount: %s', async (outcome, english, indonesian) => {
    const path = await buy();
    await pay(path, 59_000);
    await resolveFlag(database, (await orderAt(path)).id, 'a note', outcome);
    expect(textOf((await browser.get(path)).payload)).toContain(english);
    const { payload } = await browser.get(path, { 'accept-language': 'id' });
    expect(textOf(payload)).toContain(indonesian);
  });

  it('makes a new code for an expired order', async () => {
    const path = await buy();
    await setState(path, 'expired');
    expect((await browser.send(`${path}/charge`, {}, {}, path)).headers.location).toBe(path);
    expect((await browser.get(path)).payload).toContain('class="qr"');
  });

  it('asks the provider when its reader wants to know', async () => {
    const path = await buy();
    await database.query("update payment_attempt set created_at = now() - interval '1 minute'");
    const { headers } = await browser.send(`${path}/check`, {}, {}, path);
    expect(headers.location).toBe(`${path}?checked=1`);
    expect(textOf((await browser.get(`${path}?checked=1`)).payload)).toContain('Not paid yet.');
    expect(provider.calls).toEqual(['charge', 'status']);
  });

  it('says that the provider does not answer, rather than that nothing was paid', async () => {
    const path = await buy();
    await database.query("update payment_attempt set created_at = now() - interval '1 minute'");
    provider.fail('status');
    await browser.send(`${path}/check`, {}, {}, path);
    const text = textOf((await browser.get(`${path}?checked=1`)).payload);
    expect([text.includes('The payment service is not responding.'), text.includes('Not paid yet.')]).toEqual([
      true,
      false,
    ]);
    provider.failures.clear();
    await database.query("update payment_attempt set checked_at = now() - interval '1 minute'");
    await browser.send(`${path}/check`, {}, {}, path);
    expect(textOf((await browser.get(`${path}?checked=1`)).payload)).toContain('Not paid yet.');
  });

  it('leads to the pass when that finds the payment', async () => {
    const path = await buy();
    const order = await orderAt(path);
    provider.pay(referenceOf(order));
    await database.query("update payment_attempt set created_at = now() - interval '1 minute'");
    expect((await browser.send(`${path}/check`, {}, {}, path)).headers.location).toBe(`${path}/done`);
    expect((await checkNow(shop.host, order.id)).state).toBe('paid');
  });

  it('cancels the order, after asking in a dialog or on a page of its own', async () => {
    const path = await buy();
    const { payload } = await browser.get(path);
    expect(payload).toContain(`href="${path}/cancel" data-open="#cancel"`);
    expect(payload).toMatch(/<dialog[^>]* id="cancel"[^]*If you are paying or have paid, do not cancel[^]*<\/dialog>/);
    expect(textOf((await browser.get(`${path}/cancel`)).payload)).toContain('Cancel this order?');
    expect((await orderAt(path)).state).toBe('pending');
    await browser.send(`${path}/cancel`, {}, {}, path);
    expect((await orderAt(path)).state).toBe('cancelled');
  });
});

const strict = (payments: { max_charges_per_hour?: number; max_open_orders?: number }) =>
  serveShop(database, provider, { payments });

describe('a buyer who makes codes without paying', () => {
  const inEnglish = /\d+ \w+ \d{4}, \d\d:\d\d/;
  const inIndonesian = /\d+ \w+ \d{4}, \d\d\.\d\d/;

  it('reads when the next one can be made, after the limit', async () => {
    ({ browser } = await (await strict({ max_charges_per_hour: 1 })).signIn());
    const path = await buy(7);
    const refused = await browser.send('/buy', { days: '30' }, {}, '/buy');
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused.payload)).toMatch(
      new RegExp(`Too many QR codes were made without a payment. Make the next one after ${inEnglish.source}`),
    );
    const translated = await browser.send('/buy', { days: '30' }, { 'accept-language': 'id' }, '/buy');
    expect(textOf(translated.payload)).toMatch(
      new RegExp(`Terlalu banyak kode QR dibuat tanpa dibayar. Buat kode berikutnya setelah ${inIndonesian.source}`),
    );
    await setState(path, 'expired');
    const again = await browser.send(`${path}/charge`, {}, {}, path);
    expect(again.statusCode).toBe(429);
    expect(textOf(again.payload)).toMatch(
      new RegExp(`Too many QR codes were made. They were not paid. Make the next one after ${inEnglish.source}`),
    );
  });

  it('shares the limit of the network with its other accounts', async () => {
    const shared = await serveShop(database, provider, {
      payments: { max_charges_per_hour: 1, max_charges_per_hour_and_address: 1 },
    });
    ({ browser } = await shared.signIn());
    await buy(7);
    ({ browser } = await shared.signIn());
    expect(textOf((await browser.send('/buy', { days: '7' }, {}, '/buy')).payload)).toContain('Too many QR codes');
  });

  it('reads that open orders are too many, also for an order that has expired', async () => {
    ({ browser } = await (await strict({ max_open_orders: 1 })).signIn());
    const path = await buy(7);
    await setState(path, 'expired');
    await buy(30);
    expect(textOf((await browser.send('/buy', { days: '1' }, {}, '/buy')).payload)).toMatch(
      new RegExp(`Pay or cancel one, or order again after ${inEnglish.source}`),
    );
    const again = await browser.send(`${path}/charge`, {}, {}, path);
    expect(again.statusCode).toBe(409);
    expect(textOf(again.payload)).toMatch(/You have too many open orders. Pay or cancel one of them/);
  });
});

describe('an order of another account', () => {
  it.each(['', '/qr.png', '/done', '/receipt'])('is not found at %s', async (part) => {
    const path = await buy();
    const { browser: other } = await shop.signIn();
    expect((await other.get(path + part)).statusCode).toBe(404);
  });

  it('cannot be cancelled, checked or charged', async () => {
    const path = await buy();
    const { browser: other } = await shop.signIn();
    const own = await buyAs(other);
    for (const action of ['cancel', 'check', 'charge']) {
      // A form of one's own order, sent to that of another account: the token is bound to the path.
      const form_token = await other.token(own, `${own}/cancel`);
      expect((await other.post(`${path}/${action}`, { form_token })).statusCode).toBe(403);
    }
    expect((await orderAt(path)).state).toBe('pending');
  });
});

async function buyAs(buyer: Browser): Promise<string> {
  return String((await buyer.send('/buy', { days: '1' })).headers.location);
}

describe('the page of a paid order', () => {
  it('follows the payment, with the end of the pass', async () => {
    const path = await buy();
    await pay(path);
    expect((await browser.get(path)).headers.location).toBe(`${path}/done`);
    const text = textOf((await browser.get(`${path}/done`)).payload);
    expect(text).toMatch(/Paid\. Your 7-day pass is active\. Active until \d+ \w+ \d{4}/);
  });

  it('shows the key once, and the hint from then on', async () => {
    const path = await buy();
    await pay(path);
    await database.query('update api_key set shown_at = null where account_id = ?', [accountId]);
    const { payload } = await browser.send(`${path}/key`, {}, {}, `${path}/done`);
    const key = /<code id="key">(dp-\w+)<\/code>/.exec(payload)?.[1];
    expect(key).toBeDefined();
    const later = (await browser.get(`${path}/done`)).payload;
    expect(later).not.toContain(key);
    expect(later).toContain('<a href="/account/key">Lost it? Rotate the key</a>');
  });

  it('waits for the first request, and reloads by itself unless it shows the key', async () => {
    const path = await buy();
    await pay(path);
    await database.query('update api_key set shown_at = null where account_id = ?', [accountId]);
    const reload = '<meta http-equiv="refresh"';
    const { payload } = await browser.get(`${path}/done`);
    expect([payload.includes('Waiting for your first request'), payload.includes(reload)]).toEqual([true, true]);
    const shown = (await browser.send(`${path}/key`, {}, {}, `${path}/done`)).payload;
    expect([shown.includes('Waiting for your first request'), shown.includes(reload)]).toEqual([true, false]);
    await database.query(
      `insert into request_log (id, started_at, instance, method, path, endpoint, outcome, account_id, model)
       values ('req_first', now(), 'test', 'POST', '/v1/messages', 'messages', 'answered', ?, 'dp/test')`,
      [accountId],
    );
    await database.query(
      `insert into request_log (id, started_at, instance, method, path, endpoint, outcome, account_id, model)
       values ('req_failed', now(), 'test', 'POST', '/v1/messages', 'messages', 'failed', ?, 'dp/broken')`,
      [accountId],
    );
    const after = (await browser.get(`${path}/done`)).payload;
    expect([textOf(after).includes('Your request came in. dp/test'), after.includes(reload)]).toEqual([true, false]);
  });

  it('counts no request that failed, nor one before the payment', async () => {
    await database.query(
      `insert into request_log (id, started_at, instance, method, path, endpoint, outcome, account_id, model)
       values ('req_before', now() - interval '1 hour', 'test', 'POST', '/v1/messages', 'messages', 'answered', ?, 'dp/test')`,
      [accountId],
    );
    const path = await buy();
    await pay(path);
    await database.query(
      `insert into request_log (id, started_at, instance, method, path, endpoint, outcome, account_id, model)
       values ('req_502', now(), 'test', 'POST', '/v1/messages', 'messages', 'failed', ?, 'dp/test')`,
      [accountId],
    );
    expect((await browser.get(`${path}/done`)).payload).toContain('Waiting for your first request');
  });

  it('says that the days of a renewal were added', async () => {
    await pay(await buy());
    const path = await buy(30);
    await pay(path);
    expect(textOf((await browser.get(`${path}/done`)).payload)).toContain('Paid. 30 days were added.');
  });

  it('says that a late payment counts', async () => {
    const path = await buy();
    await setState(path, 'expired');
    await pay(path);
    expect(textOf((await browser.get(`${path}/done`)).payload)).toContain('but it still counts.');
  });

  it('says that a pass is over, and since when', async () => {
    const path = await buy();
    await pay(path);
    const { id } = await orderAt(path);
    await database.fork().transactional((transaction) => endOrderPeriod(transaction, accountId, id));
    const text = textOf((await browser.get(`${path}/done`)).payload);
    expect(text).toMatch(/Paid\. Your 7-day pass is over\. It ended on \d+ \w+ \d{4}, \d\d:\d\d/);
  });

  it('says that another pass runs where the one that was bought is over', async () => {
    const path = await buy();
    await pay(path);
    const { id } = await orderAt(path);
    await database.fork().transactional((transaction) => endOrderPeriod(transaction, accountId, id));
    await grantDays(database, accountId, { days: 3 });
    const text = textOf((await browser.get(`${path}/done`)).payload);
    expect(text).toMatch(/Paid\. Your 7-day pass is over\. Another pass is active until \d+ \w+ \d{4}, \d\d:\d\d/);
  });

  it('of a refunded order offers plans instead of the key', async () => {
    const path = await buy();
    await pay(path);
    await refundOrder(shop.host, (await orderAt(path)).id, { reason: 'sorry', isManual: true });
    const { payload } = await browser.get(`${path}/done`);
    expect(textOf(payload)).toContain('This order was refunded. Its days have ended.');
    expect(payload).not.toContain('/key"');
  });

  it('says that a part of the money is on its way back, and then that it went back', async () => {
    const path = await buy();
    await pay(path);
    const { id, payments } = await orderAt(path);
    const key = `${codeOf(path)}-R1`;
    await database.query(
      `insert into refund (key, order_id, payment_id, amount, currency, state, days, reason)
       values (?, ?, ?, 9000, 'IDR', 'sent', 'none', 'an hour without service')`,
      [key, id, payments[0]?.id],
    );
    const read = async (page: string) => textOf((await browser.get(`${path}/${page}`)).payload);
    expect(await read('done')).toContain('A refund is on its way. The refund of Rp\u00a09.000 started on');
    await closeRefund({ database }, key, 'done', 'the provider says so');
    for (const page of ['done', 'receipt'])
      expect(await read(page)).toContain('You received a refund. Rp\u00a09.000 was refunded on');
  });

  it('tells what becomes of a second payment: held, kept after a decision, or paid back', async () => {
    const path = await buy();
    await pay(path);
    const { id } = await orderAt(path);
    const second = await addExtra(id, 95_000, secondPayment);
    const read = async () => textOf((await browser.get(`${path}/done`)).payload);
    expect(await read()).toContain('paid twice. We are holding Rp\u00a095.000 for you. You get it back by');
    await giveBack(second, 10_000);
    expect(await read()).toContain('paid twice. We are holding Rp\u00a085.000 for you. You get it back by');
    await decide(second);
    expect(await read()).toMatch(
      /paid twice\. The second payment was Rp\u00a085\.000\. Decided on .* Write to help@example\.com/,
    );
    await giveBack(second, 85_000);
    const text = await read();
    expect(text).toContain('You received a refund. The second payment: Rp\u00a010.000 was refunded on');
    expect(text).not.toContain('Decided on');
  });

  it('counts all money that came beside its payment, also of a wrong amount', async () => {
    const path = await buy();
    await pay(path);
    const { id } = await orderAt(path);
    const third = [await addExtra(id, 95_000, secondPayment), await addExtra(id, 95_000, secondPayment)][1] ?? '';
    const wrong = await addExtra(id, 12_000, ['wrong_amount', 'wrong_amount']);
    const read = async () => textOf((await browser.get(`${path}/done`)).payload);
    expect(await read()).toContain('More money came for this order. We are holding Rp\u00a0202.000 for you.');
    await decide(third);
    expect(await read()).toMatch(
      /We are holding Rp\u00a0107\.000 for you\..* Paid in addition: Rp\u00a095\.000\. Decided on/,
    );
    await giveBack(wrong, 12_000);
    expect(await read()).toContain('The other payment of Rp\u00a012.000: Rp\u00a012.000 was refunded on');
  });

  it('says that the days stay where a refund of all has left them', async () => {
    const path = await buy();
    await pay(path);
    const { id } = await orderAt(path);
    await refundOrder(shop.host, id, { reason: 'sorry', isManual: true, days: 'none' });
    for (const page of ['done', 'receipt']) {
      const text = textOf((await browser.get(`${path}/${page}`)).payload);
      expect(text).toMatch(/This order was refunded\. You keep its days, until .*Rp\u00a095\.000 was refunded on/);
    }
  });

  it('leads back to the pay page while it is not paid', async () => {
    const path = await buy();
    expect((await browser.get(`${path}/done`)).headers.location).toBe(path);
  });
});

describe('orders and receipts', () => {
  it('lists the orders of the account alone', async () => {
    const path = await buy();
    const { payload } = await browser.get('/orders');
    expect(payload).toContain(codeOf(path));
    const { browser: other } = await shop.signIn();
    expect(textOf((await other.get('/orders')).payload)).toContain('No orders yet');
  });

  it('has a receipt for what was paid', async () => {
    const path = await buy();
    expect((await browser.get(`${path}/receipt`)).statusCode).toBe(404);
    await pay(path);
    const text = textOf((await browser.get(`${path}/receipt`)).payload);
    expect(text).toContain('Total paid Rp\u00a095.000');
    expect(text).toContain(`Payment reference T-${codeOf(path)}.1`);
  });

  it('speaks Indonesian', async () => {
    const path = await buy();
    const { payload } = await browser.get(path, { 'accept-language': 'id' });
    expect(textOf(payload)).toContain('Menunggu pembayaran Halaman ini otomatis berubah begitu pembayaran masuk.');
  });
});

describe('an address that does not exist', () => {
  it('offers the sign-in to visitors alone', async () => {
    const visitor = await shop.server.inject({ url: '/never-there', headers: { accept: 'text/html' } });
    const { payload, statusCode } = await browser.get('/never-there');
    expect(statusCode).toBe(404);
    expect([visitor.payload, payload].map((page) => page.includes('href="/sign-in'))).toEqual([true, false]);
  });
});

async function give(): Promise<string> {
  const { headers } = await browser.send('/buy', { days: '7', gift: '1' });
  return String(headers.location);
}

describe('a gift', () => {
  let giving: Awaited<ReturnType<typeof serveShop>>;
  beforeAll(async () => {
    giving = await serveShop(database, provider, { payments: { gifts: true } });
  });
  beforeEach(async () => {
    ({ browser, accountId } = await giving.signIn());
  });

  it('is offered by a link beside the usual way, and nowhere else', async () => {
    const own = (await browser.get('/buy?days=7')).payload;
    expect(own).toContain('<a href="/buy?days=7&amp;gift=1">As a gift</a>');
    expect(own).not.toContain('name="gift"');
    const text = textOf((await browser.get('/buy?days=7&gift=1')).payload);
    expect(text).toContain('Starts when its code is redeemed Ends 7 days later');
    const off = await shop.signIn();
    expect((await off.browser.get('/buy?days=7&gift=1')).payload).not.toContain('gift');
  });

  it('has its code and a link to redeem it on the page of the order, and no key', async () => {
    const path = await give();
    expect(textOf((await browser.get(path)).payload)).toContain('Plan 7 days, as a gift');
    await pay(path);
    const { payload } = await browser.get(`${path}/done`);
    expect(payload).toMatch(/<code id="pass-on-code">(?:[0-9A-Z]{4}-){3}[0-9A-Z]{4}<\/code>/);
    expect(payload).toMatch(/\/redeem\?code=[0-9A-Z]{16}</);
    expect(textOf(payload)).toContain('Paid. Your gift of 7 days is ready.');
    expect(payload).not.toContain('Your API key');
    expect(textOf((await browser.get(`${path}/receipt`)).payload)).toContain('Plan 7 days, as a gift');
    expect(textOf((await browser.get('/orders')).payload)).toContain('7 days, as a gift');
  });

  it('shows when it was redeemed, and neither its code nor by whom', async () => {
    const path = await give();
    await pay(path);
    const { payload } = await browser.get(`${path}/done`);
    const code = /redeem\?code=([0-9A-Z]{16})/.exec(payload)?.[1] ?? '';
    const friend = await createBuyer(database);
    await redeemCode(database, friend, code);
    const after = (await browser.get(`${path}/done`)).payload;
    expect(textOf(after)).toMatch(/Your gift of 7 days was redeemed\. The code was used on \d+ \w+ \d{4}/);
    expect(after).not.toContain('pass-on-code');
    expect(after).not.toContain(friend);
  });

  it('that was paid back says what became of its code', async () => {
    const path = await give();
    await pay(path);
    await refundOrder(giving.host, (await orderAt(path)).id, { reason: 'test', isManual: true });
    expect(textOf((await browser.get(`${path}/done`)).payload)).toMatch(
      /This order was refunded\. The code stopped working on .*\. Rp/,
    );
  });

  it('is refused with a reason when all places are taken, without a waiting list', async () => {
    const full = await serveShop(database, provider, { payments: { gifts: true }, sales: { max_active: 1 } });
    ({ browser, accountId } = await full.signIn());
    await database.query(`update account set deleted_at = clock_timestamp() where id <> ?`, [accountId]);
    // They are ahead of everybody: those that wait, and gifts that nobody has redeemed.
    await database.query('delete from waiting_entry');
    await database.query('update voucher set revoked_at = clock_timestamp() where redeemed_at is null');
    await grantDays(database, accountId, { days: 1 });
    const text = textOf((await browser.get('/buy?gift=1')).payload);
    expect(text).toMatch(
      /Sold out.* The next place is free on \d+ \w+ \d{4}, \d\d:\d\d.* at the latest, unless someone renews\./,
    );
    expect(text).not.toContain('Join the waiting list');
    expect(textOf((await browser.send('/buy', { days: '7', gift: '1' })).payload)).toContain(
      'This plan was just sold out. Try again later.',
    );
  });
});
