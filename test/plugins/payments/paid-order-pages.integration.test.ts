import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endOrderPeriod, grantDays } from '#core/business/accounts/ledger.ts';
import { resolveFlag } from '#core/business/payments/flags.ts';
import { closeRefund, refundOrder } from '#core/business/payments/refunds.ts';
import { createBuyer } from '../../core/business/payments/fixture.ts';
import { redeemCode } from '../../support/redeem-code.ts';
import { codeOf, textOf, useBuyer } from './buyer-fixture.ts';
import { serveShop } from './fixture.ts';

const buyer = useBuyer();

/** Enters money that came beside the payment of an order, and its flag. */
async function addExtra(orderId: string, amount: number, [outcome, kind]: readonly [string, string]): Promise<string> {
  const name = randomUUID();
  await buyer.database.query(
    `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
     select gen_random_uuid(), order_id, reference, provider, ?, ?, 'IDR', now(), ?, '{}'
     from payment where order_id = ? and outcome = 'activated'`,
    [name, amount, outcome, orderId],
  );
  await buyer.database.query(
    `insert into order_flag (id, order_id, kind, subject) values (gen_random_uuid(), ?, ?, ?)`,
    [orderId, kind, name],
  );
  return name;
}

let refunded = 0;
const giveBack = (paymentId: string, amount: number) =>
  buyer.database.query(
    `insert into refund (key, order_id, payment_id, amount, currency, state, days, reason, finished_at)
     select ?, order_id, id, ?, 'IDR', 'done', 'none', 'paid twice', now() from payment where payment_id = ?`,
    [`R${++refunded}`, amount, paymentId],
  );

/** Resolves the flag of a payment without giving its money back. */
async function decide(subject: string): Promise<void> {
  const [flag] = await buyer.database.query<{ id: string }>('select id::text from order_flag where subject = ?', [
    subject,
  ]);
  await resolveFlag(buyer.database, flag?.id ?? '', 'gave seven days');
}

const secondPayment = ['second', 'second_payment'] as const;

describe('the page of a paid order', () => {
  it('the page of a paid order follows the payment, with the end of the pass', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    expect((await buyer.browser.get(path)).headers.location).toBe(`${path}/done`);
    const text = textOf((await buyer.browser.get(`${path}/done`)).payload);
    expect(text).toMatch(/Paid\. Your 7-day pass is active\. Active until \d+ \w+ \d{4}/);
  });

  it('the page of a paid order shows the key once, and the hint from then on', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    await buyer.database.query('update api_key set shown_at = null where account_id = ?', [buyer.accountId]);
    const { payload } = await buyer.browser.send(`${path}/key`, {}, {}, `${path}/done`);
    const key = /<code id="key">(dp-\w+)<\/code>/.exec(payload)?.[1];
    expect(key).toBeDefined();
    const later = (await buyer.browser.get(`${path}/done`)).payload;
    expect(later).not.toContain(key);
    expect(later).toContain('<a href="/account/key">Lost it? Rotate the key</a>');
  });

  it('the page of a paid order waits for the first request, and reloads by itself unless it shows the key', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    await buyer.database.query('update api_key set shown_at = null where account_id = ?', [buyer.accountId]);
    const reload = '<meta http-equiv="refresh"';
    const { payload } = await buyer.browser.get(`${path}/done`);
    expect([payload.includes('Waiting for your first request'), payload.includes(reload)]).toEqual([true, true]);
    const shown = (await buyer.browser.send(`${path}/key`, {}, {}, `${path}/done`)).payload;
    expect([shown.includes('Waiting for your first request'), shown.includes(reload)]).toEqual([true, false]);
    await buyer.database.query(
      `insert into request_log (id, started_at, instance, method, path, endpoint, outcome, account_id, model)
       values ('req_first', now(), 'test', 'POST', '/v1/messages', 'messages', 'answered', ?, 'dp/test')`,
      [buyer.accountId],
    );
    await buyer.database.query(
      `insert into request_log (id, started_at, instance, method, path, endpoint, outcome, account_id, model)
       values ('req_failed', now(), 'test', 'POST', '/v1/messages', 'messages', 'failed', ?, 'dp/broken')`,
      [buyer.accountId],
    );
    const after = (await buyer.browser.get(`${path}/done`)).payload;
    expect([textOf(after).includes('We have received your request. dp/test'), after.includes(reload)]).toEqual([
      true,
      false,
    ]);
  });

  it('the page of a paid order counts neither failed requests nor those before the payment', async () => {
    await buyer.database.query(
      `insert into request_log (id, started_at, instance, method, path, endpoint, outcome, account_id, model)
       values ('req_before', now() - interval '1 hour', 'test', 'POST', '/v1/messages', 'messages', 'answered', ?, 'dp/test')`,
      [buyer.accountId],
    );
    const path = await buyer.buy();
    await buyer.pay(path);
    await buyer.database.query(
      `insert into request_log (id, started_at, instance, method, path, endpoint, outcome, account_id, model)
       values ('req_502', now(), 'test', 'POST', '/v1/messages', 'messages', 'failed', ?, 'dp/test')`,
      [buyer.accountId],
    );
    expect((await buyer.browser.get(`${path}/done`)).payload).toContain('Waiting for your first request');
  });

  it('the page of a paid order says that the days of a renewal were added', async () => {
    await buyer.pay(await buyer.buy());
    const path = await buyer.buy(30);
    await buyer.pay(path);
    expect(textOf((await buyer.browser.get(`${path}/done`)).payload)).toContain('Paid. 30 days were added.');
  });

  it('the page of a paid order says that a late payment counts', async () => {
    const path = await buyer.buy();
    await buyer.setState(path, 'expired');
    await buyer.pay(path);
    expect(textOf((await buyer.browser.get(`${path}/done`)).payload)).toContain('but it still counts.');
  });

  it('the page of a paid order says that a pass is over, and since when', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    const { id } = await buyer.orderAt(path);
    await buyer.database.fork().transactional((transaction) => endOrderPeriod(transaction, buyer.accountId, id));
    const text = textOf((await buyer.browser.get(`${path}/done`)).payload);
    expect(text).toMatch(/Paid\. Your 7-day pass is over\. It ended on \d+ \w+ \d{4}, \d\d:\d\d/);
  });

  it('the page of a paid order says that another pass runs where the one that was bought is over', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    const { id } = await buyer.orderAt(path);
    await buyer.database.fork().transactional((transaction) => endOrderPeriod(transaction, buyer.accountId, id));
    await grantDays(buyer.database, buyer.accountId, { days: 3 });
    const text = textOf((await buyer.browser.get(`${path}/done`)).payload);
    expect(text).toMatch(/Paid\. Your 7-day pass is over\. Another pass is active until \d+ \w+ \d{4}, \d\d:\d\d/);
  });

  it('the page of a paid order of a refunded order offers plans instead of the key', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    await refundOrder(buyer.shop.host, (await buyer.orderAt(path)).id, { reason: 'sorry', isManual: true });
    const { payload } = await buyer.browser.get(`${path}/done`);
    expect(textOf(payload)).toContain('This order was refunded. Its days have ended.');
    expect(payload).not.toContain('/key"');
  });

  it('the page of a paid order says that a part of the money is on its way back, and then that it went back', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    const { id, payments } = await buyer.orderAt(path);
    const key = `${codeOf(path)}-R1`;
    await buyer.database.query(
      `insert into refund (key, order_id, payment_id, amount, currency, state, days, reason)
       values (?, ?, ?, 9000, 'IDR', 'sent', 'none', 'an hour without service')`,
      [key, id, payments[0]?.id],
    );
    const read = async (page: string) => textOf((await buyer.browser.get(`${path}/${page}`)).payload);
    expect(await read('done')).toContain('A refund is on its way. The refund of Rp\u00a09.000 started on');
    await closeRefund({ database: buyer.database }, key, 'done', 'the provider says so');
    for (const page of ['done', 'receipt'])
      expect(await read(page)).toContain('You received a refund. Rp\u00a09.000 was refunded on');
  });

  it('the page of a paid order tells what becomes of a second payment: held, kept after a decision, or paid back', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    const { id } = await buyer.orderAt(path);
    const second = await addExtra(id, 95_000, secondPayment);
    const read = async () => textOf((await buyer.browser.get(`${path}/done`)).payload);
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

  it('the page of a paid order counts all further payments, also of a wrong amount', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    const { id } = await buyer.orderAt(path);
    const third = [await addExtra(id, 95_000, secondPayment), await addExtra(id, 95_000, secondPayment)][1] ?? '';
    const wrong = await addExtra(id, 12_000, ['wrong_amount', 'wrong_amount']);
    const read = async () => textOf((await buyer.browser.get(`${path}/done`)).payload);
    expect(await read()).toContain('There is another payment for this order. We are holding Rp\u00a0202.000 for you.');
    await decide(third);
    expect(await read()).toMatch(
      /We are holding Rp\u00a0107\.000 for you\..* Paid in addition: Rp\u00a095\.000\. Decided on/,
    );
    await giveBack(wrong, 12_000);
    expect(await read()).toContain('The other payment of Rp\u00a012.000: Rp\u00a012.000 was refunded on');
  });

  it('the page of a paid order says that the days stay where a refund of all has left them', async () => {
    const path = await buyer.buy();
    await buyer.pay(path);
    const { id } = await buyer.orderAt(path);
    await refundOrder(buyer.shop.host, id, { reason: 'sorry', isManual: true, days: 'none' });
    for (const page of ['done', 'receipt']) {
      const text = textOf((await buyer.browser.get(`${path}/${page}`)).payload);
      expect(text).toMatch(/This order was refunded\. You keep its days, until .*Rp\u00a095\.000 was refunded on/);
    }
  });

  it('the page of a paid order leads back to the pay page while it is not paid', async () => {
    const path = await buyer.buy();
    expect((await buyer.browser.get(`${path}/done`)).headers.location).toBe(path);
  });
});

describe('orders and receipts', () => {
  it('the list of orders has those of the account alone', async () => {
    const path = await buyer.buy();
    const { payload } = await buyer.browser.get('/orders');
    expect(payload).toContain(codeOf(path));
    const { browser: other } = await buyer.shop.signIn();
    expect(textOf((await other.get('/orders')).payload)).toContain('No orders yet');
  });

  it('a receipt is there for what was paid', async () => {
    const path = await buyer.buy();
    expect((await buyer.browser.get(`${path}/receipt`)).statusCode).toBe(404);
    await buyer.pay(path);
    const text = textOf((await buyer.browser.get(`${path}/receipt`)).payload);
    expect(text).toContain('Total paid Rp\u00a095.000');
    expect(text).toContain(`Payment reference T-${codeOf(path)}.1`);
  });

  it('the pay page speaks Indonesian', async () => {
    const path = await buyer.buy();
    const { payload } = await buyer.browser.get(path, { 'accept-language': 'id' });
    expect(textOf(payload)).toContain('Menunggu pembayaran Halaman ini otomatis berubah begitu pembayaran masuk.');
  });
});

async function give(): Promise<string> {
  const { headers } = await buyer.browser.send('/buy', { days: '7', gift: '1' });
  return String(headers.location);
}

describe('a gift', () => {
  let giving: Awaited<ReturnType<typeof serveShop>>;
  beforeAll(async () => {
    giving = await serveShop(buyer.database, buyer.provider, { payments: { gifts: true } });
  });
  beforeEach(async () => {
    await buyer.signIn(giving);
  });

  it('a gift is offered by one link next to the usual purchase, and nowhere else', async () => {
    const own = (await buyer.browser.get('/buy?days=7')).payload;
    expect(own).toContain('<a href="/buy?days=7&amp;gift=1">As a gift</a>');
    expect(own).not.toContain('name="gift"');
    const text = textOf((await buyer.browser.get('/buy?days=7&gift=1')).payload);
    expect(text).toContain('Starts when its code is redeemed Ends 7 days later');
    const off = await buyer.shop.signIn();
    expect((await off.browser.get('/buy?days=7&gift=1')).payload).not.toContain('gift');
  });

  it('a gift has its code and a link to redeem it on the page of the order, and no key', async () => {
    const path = await give();
    expect(textOf((await buyer.browser.get(path)).payload)).toContain('Plan 7 days, as a gift');
    await buyer.pay(path);
    const { payload } = await buyer.browser.get(`${path}/done`);
    expect(payload).toMatch(/<code id="pass-on-code">(?:[0-9A-Z]{4}-){3}[0-9A-Z]{4}<\/code>/);
    expect(payload).toMatch(/\/redeem\?code=[0-9A-Z]{16}</);
    expect(textOf(payload)).toContain('Paid. Your gift of 7 days is ready.');
    expect(payload).not.toContain('Your API key');
    expect(textOf((await buyer.browser.get(`${path}/receipt`)).payload)).toContain('Plan 7 days, as a gift');
    expect(textOf((await buyer.browser.get('/orders')).payload)).toContain('7 days, as a gift');
  });

  it('a gift shows when it was redeemed, and neither its code nor by whom', async () => {
    const path = await give();
    await buyer.pay(path);
    const { payload } = await buyer.browser.get(`${path}/done`);
    const code = /redeem\?code=([0-9A-Z]{16})/.exec(payload)?.[1] ?? '';
    const friend = await createBuyer(buyer.database);
    await redeemCode(buyer.database, friend, code);
    const after = (await buyer.browser.get(`${path}/done`)).payload;
    expect(textOf(after)).toMatch(/Your gift of 7 days was redeemed\. The code was used on \d+ \w+ \d{4}/);
    expect(after).not.toContain('pass-on-code');
    expect(after).not.toContain(friend);
  });

  it('a gift that was paid back says what became of its code', async () => {
    const path = await give();
    await buyer.pay(path);
    await refundOrder(giving.host, (await buyer.orderAt(path)).id, { reason: 'test', isManual: true });
    expect(textOf((await buyer.browser.get(`${path}/done`)).payload)).toMatch(
      /This order was refunded\. The code stopped working on .*\. Rp/,
    );
  });

  it('a gift is refused with a reason when all places are taken, without a waiting list', async () => {
    const full = await serveShop(buyer.database, buyer.provider, {
      payments: { gifts: true },
      sales: { max_active: 1 },
    });
    await buyer.signIn(full);
    await buyer.database.query(`update account set deleted_at = clock_timestamp() where id <> ?`, [buyer.accountId]);
    // They are ahead of everybody: those that wait, and gifts that nobody has redeemed.
    await buyer.database.query('delete from waiting_entry');
    await buyer.database.query('update voucher set revoked_at = clock_timestamp() where redeemed_at is null');
    await grantDays(buyer.database, buyer.accountId, { days: 1 });
    const text = textOf((await buyer.browser.get('/buy?gift=1')).payload);
    expect(text).toMatch(
      /Sold out.* The next place is free on \d+ \w+ \d{4}, \d\d:\d\d.* at the latest, unless someone renews\./,
    );
    expect(text).not.toContain('Join the waiting list');
    expect(textOf((await buyer.browser.send('/buy', { days: '7', gift: '1' })).payload)).toContain(
      'This plan was just sold out. Try again later.',
    );
  });
});
