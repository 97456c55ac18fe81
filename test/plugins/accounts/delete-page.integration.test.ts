import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestGateway, startGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: `${yamlFor('http://127.0.0.1:9')}\npayments: { gifts: true }` });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const path = '/account/delete';
const emailOf = (name: string) => `${name}@example.com`;

async function signedIn(name: string): Promise<PageClient> {
  const browser = new PageClient(gateway.url);
  await browser.submit('/sign-in', '/sign-in', { email: emailOf(name), name });
  return browser;
}

/** @returns the path of an order that waits for its payment */
async function buy(browser: PageClient): Promise<string> {
  return (await browser.submit('/buy', '/buy', { days: '7' })).location;
}

const remove = (browser: PageClient, confirmation: string) => browser.submit(path, path, { confirmation });

/** Long before what the gateway remembers of a key expires, which takes a minute. */
const soon = { timeout: 15_000, interval: 20 };

async function statusOf(key: string): Promise<number> {
  return (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
}

describe('the page that deletes an account', () => {
  it('names the time that is left and the orders that are open', async () => {
    const browser = await signedIn('named');
    await gateway.database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason)
       select gen_random_uuid(), id, now(), now() + interval '71:59:30', 3, 'grant' from account where email = ?`,
      [emailOf('named')],
    );
    const code = (await buy(browser)).split('/').at(-1);
    const { text } = await browser.get(path);
    expect(text).toMatch(/Your remaining time: 2\sd\s23:59:\d\d, until \d+ \w+ \d{4}/);
    expect(text).toContain(`Order ${code} for Rp\u00a095.000. It will be cancelled; do not pay it.`);
  });

  it('names payments that still wait for a decision', async () => {
    const browser = await signedIn('undecided');
    const code = (await buy(browser)).split('/').at(-1);
    await browser.submit(`/sandbox/${code}.1`, `/sandbox/${code}.1`, { action: 'pay-wrong-amount' });
    const shown = async () => (await browser.get(path)).text;
    await expect
      .poll(shown, soon)
      .toContain(`Order ${code}: Rp\u00a047.500 was paid and is still being checked. Write to the operator`);
    expect(await shown()).not.toContain('do not pay it');
  });

  it('names a gift whose code can be redeemed but no longer be looked up', async () => {
    const browser = await signedIn('giving');
    const code = (await browser.submit('/buy', '/buy', { days: '7', gift: '1' })).location.split('/').at(-1);
    await browser.submit(`/sandbox/${code}.1`, `/sandbox/${code}.1`, { action: 'pay' });
    await expect
      .poll(async () => (await browser.get(path)).text, soon)
      .toContain(`Order ${code}: the gift code still works, but you can no longer look it up. Copy it first.`);
  });

  it('deletes nothing for another text, and keeps what was typed', async () => {
    const browser = await signedIn('wrong');
    const { status, text } = await remove(browser, emailOf('other'));
    expect([status, text.includes('This does not match the account.')]).toEqual([422, true]);
    expect(text).toContain(`value="${emailOf('other')}"`);
    expect((await browser.get('/account')).status).toBe(200);
  });

  it('ends the key, every session and the open orders, and says so', async () => {
    const browser = await signedIn('gone');
    const elsewhere = await signedIn('gone');
    const key = /<code id="key">([^<]+)/.exec((await browser.submit('/account/key', '/account/key/show')).text)?.[1];
    const order = await buy(browser);
    expect(await statusOf(key ?? '')).not.toBe(401);
    const reply = await remove(browser, ` ${emailOf('gone').toUpperCase()} `);
    expect((await browser.follow(reply)).text).toContain('<h1>Your account is deleted.</h1>');
    await expect.poll(() => statusOf(key ?? ''), soon).toBe(401);
    for (const one of [browser, elsewhere]) expect((await one.get('/account')).location).toContain('/sign-in');
    const states = await gateway.database.query('select state from plan_order where code = ?', [
      order.split('/').at(-1),
    ]);
    expect(states).toEqual([{ state: 'cancelled' }]);
    expect(await gateway.database.query('select 1 from account where email = ?', [emailOf('gone')])).toEqual([]);
  });

  it('asks for the name where the account has no e-mail', async () => {
    const browser = await signedIn('nameless');
    await gateway.database.query('update account set email = null where email = ?', [emailOf('nameless')]);
    expect((await browser.get(path)).text).toContain('To confirm, type your name: nameless');
    expect((await remove(browser, 'nameless')).location).toBe('/account-deleted');
  });

  it('refuses a form from another site', async () => {
    const browser = await signedIn('foreign');
    const { text } = await browser.get(path);
    const form_token = /action="\/account\/delete"[^>]*>\s*<input[^>]*value="([^"]+)"/.exec(text)?.[1] ?? '';
    const fields = { form_token, confirmation: emailOf('foreign') };
    expect((await browser.post(path, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await browser.get('/account')).status).toBe(200);
  });
});
