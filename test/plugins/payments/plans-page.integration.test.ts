import { describe, expect, it } from 'vitest';
import { codeOf, textOf, useBuyer } from './buyer-fixture.ts';
import { serveShop } from './fixture.ts';

const buyer = useBuyer();

describe('the page of plans', () => {
  it('the page of plans shows each plan with its price, the price of a day, and when it starts', async () => {
    const text = textOf((await buyer.browser.get('/buy?days=7')).payload);
    expect(text).toContain('Rp\u00a095.000 Rp\u00a013.571 per day');
    expect(text).toContain('Starts as soon as it is paid');
    expect(text).toContain('Pay Rp\u00a095.000');
  });

  it('the page of plans chooses the plan that the address names', async () => {
    expect((await buyer.browser.get('/buy?days=30')).payload).toMatch(/value="30" checked/);
    expect((await buyer.browser.get('/buy?days=31')).payload).toMatch(/value="30" checked/); // the one in the middle
  });

  it('the page of plans starts a renewal at the end of the current pass', async () => {
    await buyer.pay(await buyer.buy());
    expect(textOf((await buyer.browser.get('/buy')).payload)).toMatch(
      /Starts \w+ \d+ \w+, \d\d:\d\d, after the current pass/,
    );
  });

  it('the page of plans takes the price from gateway.yaml, whatever the browser sends', async () => {
    const { headers } = await buyer.browser.send('/buy', { days: '7', price: '1', currency: 'USD' });
    expect(await buyer.orderAt(String(headers.location))).toMatchObject({ price: 95_000, currency: 'IDR' });
  });

  it('the page of plans makes one order of a double click and two tabs', async () => {
    const tabs = await Promise.all([buyer.browser.token('/buy', '/buy'), buyer.browser.token('/buy', '/buy')]);
    const sent = [tabs[0], tabs[0], tabs[1]].map((form_token) => buyer.browser.post('/buy', { form_token, days: '7' }));
    const paths = (await Promise.all(sent)).map(({ headers }) => headers.location);
    expect(new Set(paths).size).toBe(1);
    expect(buyer.provider.charges.size).toBe(1);
  });

  it('the page of plans leads back to an order that is still open', async () => {
    const path = await buyer.buy();
    expect((await buyer.browser.get('/buy')).payload).toContain(
      `<a href="${path}">Continue with order ${codeOf(path)}</a>`,
    );
  });

  it('the page of plans refuses a plan that is not sold, and days beyond a year', async () => {
    expect((await buyer.browser.send('/buy', { days: '8' })).payload).toContain('This plan is no longer sold.');
    await buyer.buy(200);
    await buyer.pay(await buyer.buy(200));
    const { statusCode, payload } = await buyer.browser.send('/buy', { days: '200' });
    expect([statusCode, payload.includes('You can hold at most a year in advance.')]).toEqual([422, true]);
  });

  it('the page of plans asks visitors to sign in, and leads back to the plan', async () => {
    const { headers } = await buyer.shop.server.inject({ url: '/buy?days=7', headers: { accept: 'text/html' } });
    expect(headers.location).toBe('/sign-in?next=%2Fbuy%3Fdays%3D7');
  });
});

const strict = (payments: { max_charges_per_hour?: number; max_open_orders?: number }) =>
  serveShop(buyer.database, buyer.provider, { payments });

describe('a buyer who makes codes without paying', () => {
  const inEnglish = /\d+ \w+ \d{4}, \d\d:\d\d/;
  const inIndonesian = /\d+ \w+ \d{4}, \d\d\.\d\d/;

  it('a buyer who makes codes without paying reads when the next one can be made, after the limit', async () => {
    await buyer.signIn(await strict({ max_charges_per_hour: 1 }));
    const path = await buyer.buy(7);
    const refused = await buyer.browser.send('/buy', { days: '30' }, {}, '/buy');
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused.payload)).toMatch(
      new RegExp(`Too many QR codes were made within an hour. Make the next one after ${inEnglish.source}`),
    );
    const translated = await buyer.browser.send('/buy', { days: '30' }, { 'accept-language': 'id' }, '/buy');
    expect(textOf(translated.payload)).toMatch(
      new RegExp(`Terlalu banyak kode QR dibuat dalam satu jam. Buat kode berikutnya setelah ${inIndonesian.source}`),
    );
    await buyer.setState(path, 'expired');
    const again = await buyer.browser.send(`${path}/charge`, {}, {}, path);
    expect(again.statusCode).toBe(429);
    expect(textOf(again.payload)).toMatch(
      new RegExp(`Too many QR codes were made. Make the next one after ${inEnglish.source}`),
    );
  });

  it('a buyer who makes codes without paying shares the limit of the network with its other accounts', async () => {
    const shared = await serveShop(buyer.database, buyer.provider, {
      payments: { max_charges_per_hour: 1, max_charges_per_hour_and_address: 1 },
    });
    await buyer.signIn(shared);
    await buyer.buy(7);
    await buyer.signIn(shared);
    expect(textOf((await buyer.browser.send('/buy', { days: '7' }, {}, '/buy')).payload)).toContain(
      'Too many QR codes',
    );
  });

  it('a buyer who makes codes without paying reads that open orders are too many, also for an order that has expired', async () => {
    await buyer.signIn(await strict({ max_open_orders: 1 }));
    const path = await buyer.buy(7);
    await buyer.setState(path, 'expired');
    await buyer.buy(30);
    expect(textOf((await buyer.browser.send('/buy', { days: '1' }, {}, '/buy')).payload)).toMatch(
      new RegExp(`Pay or cancel one, or order again after ${inEnglish.source}`),
    );
    const again = await buyer.browser.send(`${path}/charge`, {}, {}, path);
    expect(again.statusCode).toBe(409);
    expect(textOf(again.payload)).toMatch(/You have too many open orders. Pay or cancel one of them/);
  });
});

describe('an address that does not exist', () => {
  it('an address that does not exist offers the sign-in to visitors alone', async () => {
    const visitor = await buyer.shop.server.inject({ url: '/never-there', headers: { accept: 'text/html' } });
    const { payload, statusCode } = await buyer.browser.get('/never-there');
    expect(statusCode).toBe(404);
    expect([visitor.payload, payload].map((page) => page.includes('href="/sign-in'))).toEqual([true, false]);
  });
});
