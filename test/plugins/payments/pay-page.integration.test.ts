import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { checkOrderAsBuyer } from '#core/business/payments/checkout.ts';
import { resolveFlag } from '#core/business/payments/flags.ts';
import { readQris } from '#core/business/payments/qris.ts';
import { closeRefund } from '#core/business/payments/refunds.ts';
import { referenceOf } from '../../core/business/payments/fixture.ts';
import type { Browser } from '../../core/web/page-fixture.ts';
import { readQr } from '../../support/read-qr.ts';
import { codeOf, textOf, useBuyer } from './buyer-fixture.ts';
import { FakeQris, serveShop } from './fixture.ts';

const buyer = useBuyer();

describe('the pay page', () => {
  it('the pay page shows amount, receiver, end time and steps, and reloads by itself without JavaScript', async () => {
    const { payload } = await buyer.browser.get(await buyer.buy());
    const text = textOf(payload);
    expect(text).toContain('Pay by QRIS Rp\u00a095.000');
    expect(text).toContain('Check the name DAYPASS DEMO and Rp\u00a095.000, then pay.');
    expect(text).toMatch(/Pay before \d+ \w+ \d{4}/);
    expect(payload).toContain('<noscript><meta http-equiv="refresh" content="10"></noscript>');
  });

  it('the pay page names the receiver and its national id next to the code', async () => {
    const { payload } = await buyer.browser.get(await buyer.buy());
    expect(textOf(payload)).toContain('DAYPASS DEMO NMID: ID0000000000000');
  });

  it('the pay page in test mode of the provider has the command that simulates the payment in place of the code', async () => {
    const tested = new FakeQris();
    tested.connection.simulation = ({ reference }) => `simulate ${reference}`;
    await buyer.signIn(await serveShop(buyer.database, tested));
    const path = await buyer.buy();
    const { payload } = await buyer.browser.get(path);
    expect(textOf(payload)).toContain('no wallet can pay this order');
    expect(textOf(payload)).toContain(`simulate ${codeOf(path)}.1`);
    expect(payload).not.toContain('class="qr"');
    expect((await buyer.browser.get(`${path}/qr.png`)).statusCode).toBe(404);
  });

  it('the pay page has the QRIS mark of the operator’s file, and none where it cannot be used', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'daypass-mark-'));
    try {
      const file = join(folder, 'qris.png');
      await writeFile(
        file,
        encode({ width: 4, height: 1, channels: 1, depth: 8, data: new Uint8Array([0, 0, 0, 255]) }),
      );
      await buyer.signIn(await serveShop(buyer.database, buyer.provider, { payments: { qris_mark: file } }));
      const path = await buyer.buy();
      expect((await buyer.browser.get(path)).payload).toMatch(
        /<img class="mark" src="data:image\/png;base64,[\w+/=]+" alt="QRIS">/,
      );
      expect(readQris(readQr((await buyer.browser.get(`${path}/qr.png`)).rawPayload).text).amount).toBe(95_000);
      const none = await serveShop(buyer.database, buyer.provider, { payments: { qris_mark: `${file}.missing` } });
      await buyer.signIn(none);
      expect((await buyer.browser.get(await buyer.buy())).payload).not.toContain('class="mark"');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('the pay page offers the code as a picture of that amount', async () => {
    const path = await buyer.buy();
    const { rawPayload, headers } = await buyer.browser.get(`${path}/qr.png`);
    const { text, width } = readQr(rawPayload);
    expect(headers['content-disposition']).toBe(`attachment; filename="daypass-${codeOf(path)}.png"`);
    expect([readQris(text).amount, width >= 1024]).toEqual([95_000, true]);
  });

  it.each([
    ['expired', 'This QR has expired. Do not pay it.', 'Make a new QR'],
    ['failed', 'The payment failed.', 'Try again'],
    ['cancelled', 'This order was cancelled.', 'Choose a plan'],
  ])('the pay page of an order that is %s has no code, and names the way on', async (state, title, action) => {
    const path = await buyer.buy();
    await buyer.setState(path, state);
    const { payload } = await buyer.browser.get(path);
    expect(textOf(payload)).toContain(title);
    expect(payload).toContain(action);
    expect(payload).not.toContain('class="qr"');
    expect((await buyer.browser.get(`${path}/qr.png`)).statusCode).toBe(404);
  });

  it('the pay page removes the code when the time is over, before anything has noticed', async () => {
    const path = await buyer.buy();
    await buyer.database.query('update plan_order set expires_at = clock_timestamp() where code = ?', [codeOf(path)]);
    expect((await buyer.browser.get(path)).payload).not.toContain('class="qr"');
  });

  it('the pay page says that the code is being made while the provider does not answer', async () => {
    buyer.provider.fail('charge');
    expect(textOf((await buyer.browser.get(await buyer.buy())).payload)).toContain('Preparing your QR code');
  });

  it('the pay page says that a payment was seen while its notification is being checked', async () => {
    const path = await buyer.buy();
    await buyer.database.query(
      "insert into payment_notification (provider, event_key, reference, body) values ('fake', ?, ?, '')",
      [path, referenceOf(await buyer.orderAt(path))],
    );
    const { payload } = await buyer.browser.get(path);
    expect([textOf(payload).includes('Payment detected, verifying'), payload.includes('class="qr"')]).toEqual([
      true,
      false,
    ]);
  });

  it('the pay page tells a buyer who paid another amount when it will be decided, and after that whom to contact', async () => {
    const path = await buyer.buy();
    await buyer.pay(path, 59_000);
    const text = textOf((await buyer.browser.get(path)).payload);
    expect(text).toContain('We received Rp\u00a059.000, not Rp\u00a095.000.');
    expect(text).toMatch(
      /Do not pay again\. By \d+ \w+ \d{4}, \d\d:\d\d.* you get either your days or your money back\./,
    );
    expect(text).not.toContain('Write to');
    // The page promises to show the decision.
    expect((await buyer.browser.get(path)).payload).toContain(`sse-connect="${path}/live"`);
    await buyer.database.query(`update order_flag set created_at = now() - interval '25 hours'`);
    expect(textOf((await buyer.browser.get(path)).payload)).toContain(
      `Do not pay again. We are late. Write to help@example.com with order ${codeOf(path)}.`,
    );
  });

  it('the pay page shows when the money of a wrong amount went back, or since when it is on its way', async () => {
    const path = await buyer.buy();
    await buyer.pay(path, 59_000);
    const { id, payments } = await buyer.orderAt(path);
    const key = `${codeOf(path)}-R1`;
    await buyer.database.query(
      `insert into refund (key, order_id, payment_id, amount, currency, state, days, reason)
       values (?, ?, ?, 9000, 'IDR', 'sent', 'none', 'wrong amount')`,
      [key, id, payments[0]?.id],
    );
    expect(textOf((await buyer.browser.get(path)).payload)).toMatch(
      /We received .* money back\..* The refund of Rp\u00a09\.000 started on \d+ \w+ \d{4}, \d\d:\d\d/,
    );
    await buyer.database.query('update refund set amount = 59000 where key = ?', [key]);
    const underWay = textOf((await buyer.browser.get(path)).payload);
    expect(underWay).toMatch(/We received .* The refund of Rp\u00a059\.000 started on/);
    expect(underWay).not.toContain('either your days');
    await closeRefund({ database: buyer.database }, key, 'done', 'the provider says so');
    const text = textOf((await buyer.browser.get(path)).payload);
    expect(text).toMatch(
      /We received Rp\u00a059\.000, not Rp\u00a095\.000\. Decided on .* Rp\u00a059\.000 was refunded on \d+ \w+ \d{4}, \d\d:\d\d/,
    );
    expect(text).not.toContain('Paid already?');
  });

  it('the pay page removes a code that was paid with another amount, also after the operator has resolved that', async () => {
    const path = await buyer.buy();
    await buyer.pay(path, 59_000);
    await resolveFlag(buyer.database, (await buyer.orderAt(path)).id, 'paid back');
    const { payload } = await buyer.browser.get(path);
    expect((await buyer.orderAt(path)).state).toBe('cancelled');
    expect(payload).not.toContain('class="qr"');
  });

  it('the pay page is headed by the other amount that came, in both languages', async () => {
    const path = await buyer.buy();
    await buyer.pay(path, 59_000);
    const text = textOf((await buyer.browser.get(path)).payload);
    expect(text).toContain('Payment of Rp\u00a059.000 received, being checked');
    expect(text).not.toMatch(/Pay by QRIS|as soon as it is paid/);
    const { payload } = await buyer.browser.get(path, { 'accept-language': 'id' });
    expect(textOf(payload)).toContain('Pembayaran Rp\u00a059.000 diterima, sedang dicek');
  });

  it('the pay page keeps saying what came after the operator has decided with a note alone, here and in the list', async () => {
    const path = await buyer.buy();
    await buyer.pay(path, 59_000);
    await resolveFlag(buyer.database, (await buyer.orderAt(path)).id, 'gave three days');
    const text = textOf((await buyer.browser.get(path)).payload);
    expect(text).toMatch(
      /We received Rp\u00a059\.000, not Rp\u00a095\.000\. Decided on \d+ \w+ \d{4}, \d\d:\d\d.* Write to help@example\.com with order/,
    );
    expect(text).not.toMatch(/Choose a plan|cancelled|Paid already|gave three days/);
    expect(textOf((await buyer.browser.get('/orders')).payload)).toContain('Wrong amount, settled');
  });

  it.each([
    ['days_given', 'you were given days for it.', 'kamu mendapat hari sebagai gantinya.'],
    ['money_back', 'the money goes back to you.', 'uangnya dikembalikan kepadamu.'],
    ['kept', 'the payment was kept.', 'pembayaran ini tidak dikembalikan.'],
  ] as const)(
    'the pay page says what the operator decided about another amount: %s',
    async (outcome, english, indonesian) => {
      const path = await buyer.buy();
      await buyer.pay(path, 59_000);
      await resolveFlag(buyer.database, (await buyer.orderAt(path)).id, 'a note', outcome);
      expect(textOf((await buyer.browser.get(path)).payload)).toContain(english);
      const { payload } = await buyer.browser.get(path, { 'accept-language': 'id' });
      expect(textOf(payload)).toContain(indonesian);
    },
  );

  it('the pay page makes a new code for an expired order', async () => {
    const path = await buyer.buy();
    await buyer.setState(path, 'expired');
    expect((await buyer.browser.send(`${path}/charge`, {}, {}, path)).headers.location).toBe(path);
    expect((await buyer.browser.get(path)).payload).toContain('class="qr"');
  });

  it('the pay page asks the provider when its reader wants to know', async () => {
    const path = await buyer.buy();
    await buyer.database.query("update payment_attempt set created_at = now() - interval '1 minute'");
    const { headers } = await buyer.browser.send(`${path}/check`, {}, {}, path);
    expect(headers.location).toBe(`${path}?checked=1`);
    expect(textOf((await buyer.browser.get(`${path}?checked=1`)).payload)).toContain('Not paid yet.');
    expect(buyer.provider.calls).toEqual(['charge', 'status']);
  });

  it('the pay page says that the provider does not answer, rather than that nothing was paid', async () => {
    const path = await buyer.buy();
    await buyer.database.query("update payment_attempt set created_at = now() - interval '1 minute'");
    buyer.provider.fail('status');
    await buyer.browser.send(`${path}/check`, {}, {}, path);
    const text = textOf((await buyer.browser.get(`${path}?checked=1`)).payload);
    expect([text.includes('The payment service is not responding.'), text.includes('Not paid yet.')]).toEqual([
      true,
      false,
    ]);
    buyer.provider.failures.clear();
    await buyer.database.query("update payment_attempt set checked_at = now() - interval '1 minute'");
    await buyer.browser.send(`${path}/check`, {}, {}, path);
    expect(textOf((await buyer.browser.get(`${path}?checked=1`)).payload)).toContain('Not paid yet.');
  });

  it('the pay page leads to the pass when that finds the payment', async () => {
    const path = await buyer.buy();
    const order = await buyer.orderAt(path);
    buyer.provider.pay(referenceOf(order));
    await buyer.database.query("update payment_attempt set created_at = now() - interval '1 minute'");
    expect((await buyer.browser.send(`${path}/check`, {}, {}, path)).headers.location).toBe(`${path}/done`);
    expect((await checkOrderAsBuyer(buyer.shop.host, order.id)).state).toBe('paid');
  });

  it('the pay page cancels the order, after asking in a dialog or on a page of its own', async () => {
    const path = await buyer.buy();
    const { payload } = await buyer.browser.get(path);
    expect(payload).toContain(`href="${path}/cancel" data-open="#cancel"`);
    expect(payload).toMatch(/<dialog[^>]* id="cancel"[^]*If you are paying or have paid, do not cancel[^]*<\/dialog>/);
    expect(textOf((await buyer.browser.get(`${path}/cancel`)).payload)).toContain('Cancel this order?');
    expect((await buyer.orderAt(path)).state).toBe('pending');
    await buyer.browser.send(`${path}/cancel`, {}, {}, path);
    expect((await buyer.orderAt(path)).state).toBe('cancelled');
  });
});

describe('an order of another account', () => {
  it.each(['', '/qr.png', '/done', '/receipt'])('an order of another account is not found at %s', async (part) => {
    const path = await buyer.buy();
    const { browser: other } = await buyer.shop.signIn();
    expect((await other.get(path + part)).statusCode).toBe(404);
  });

  it('an order of another account cannot be cancelled, checked or charged', async () => {
    const path = await buyer.buy();
    const { browser: other } = await buyer.shop.signIn();
    const own = await buyAs(other);
    for (const action of ['cancel', 'check', 'charge']) {
      // A form of one's own order, sent to that of another account: the token is bound to the path.
      const form_token = await other.token(own, `${own}/cancel`);
      expect((await other.post(`${path}/${action}`, { form_token })).statusCode).toBe(403);
    }
    expect((await buyer.orderAt(path)).state).toBe('pending');
  });
});

async function buyAs(own: Browser): Promise<string> {
  return String((await own.send('/buy', { days: '1' })).headers.location);
}
