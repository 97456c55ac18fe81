import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestGateway, startGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient, type PageReply } from '../../support/page-client.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: yamlFor('http://127.0.0.1:9') });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function signedIn(name: string): Promise<PageClient> {
  const browser = new PageClient(gateway.url);
  await browser.submit('/sign-in', '/sign-in', { email: `${name}@example.com`, name });
  return browser;
}

const show = (browser: PageClient) => browser.submit('/account/key', '/account/key/show');
const rotate = (browser: PageClient) => browser.submit('/account/key', '/account/key/rotate');
/** Long before what the gateway remembers of a key expires, which takes a minute. */
const soon = { timeout: 15_000, interval: 20 };
const keyOn = ({ text }: PageReply) => /<code id="key">([^<]+)</.exec(text)?.[1];

/** 402: the key is known, and has no plan; 401: it is not. */
async function statusOf(key: string | undefined): Promise<number> {
  const { status } = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  return status;
}

describe('the key of a new account', () => {
  it('is shown once, and works', async () => {
    const browser = await signedIn('once');
    const shown = await show(browser);
    expect(shown.headers['cache-control']).toBe('no-store');
    expect(await statusOf(keyOn(shown))).not.toBe(401);
    const later = await browser.get('/account/key');
    expect(later.text).not.toContain(keyOn(shown));
    expect(later.text).toMatch(/<code>dp-[\w]{4}…[\w]{4}<\/code>/);
  });

  it('is not shown again by a second form that was opened before', async () => {
    const browser = await signedIn('twice');
    const { text } = await browser.get('/account/key');
    const first = await show(browser);
    const form_token = /action="\/account\/key\/show">\s*<input[^>]*value="([^"]+)"/.exec(text)?.[1] ?? '';
    const second = await browser.post('/account/key/show', { form_token });
    expect([keyOn(first), keyOn(second)]).toEqual([expect.any(String), undefined]);
    expect(await statusOf(keyOn(first))).not.toBe(401);
  });

  it('is not shown by opening an address', async () => {
    const browser = await signedIn('address');
    expect((await browser.get('/account/key/show')).status).toBe(404);
    expect(keyOn(await browser.get('/account/key'))).toBeUndefined();
  });
});

describe('a rotated key', () => {
  it('works, and the old one is refused', async () => {
    const browser = await signedIn('rotated');
    const old = keyOn(await show(browser));
    expect(await statusOf(old)).not.toBe(401);
    const fresh = keyOn(await rotate(browser));
    expect(fresh).not.toBe(old);
    await expect.poll(() => statusOf(old), soon).toBe(401);
    expect(await statusOf(fresh)).not.toBe(401);
  });

  it('replaces one whose answer was lost', async () => {
    const browser = await signedIn('lost');
    await show(browser);
    expect(await statusOf(keyOn(await rotate(browser)))).not.toBe(401);
  });

  it('is made once by a form that is sent twice', async () => {
    const browser = await signedIn('double');
    await show(browser);
    const { text } = await browser.get('/account/key');
    const form_token = /action="\/account\/key\/rotate"[^>]*>\s*<input[^>]*value="([^"]+)"/.exec(text)?.[1] ?? '';
    const replies = await Promise.all([1, 2].map(() => browser.post('/account/key/rotate', { form_token })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  it('is recorded as an event', async () => {
    const browser = await signedIn('event');
    await show(browser);
    await rotate(browser);
    const events = await gateway.database.query(
      `select 1 from account_event where name = 'key.rotated'
       and payload ->> 'accountId' = (select id::text from account where email = 'event@example.com')`,
    );
    expect(events).toHaveLength(1);
  });

  it('is refused from another site', async () => {
    const browser = await signedIn('foreign');
    await show(browser);
    const { text } = await browser.get('/account/key');
    const form_token = /action="\/account\/key\/rotate"[^>]*>\s*<input[^>]*value="([^"]+)"/.exec(text)?.[1] ?? '';
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await browser.post('/account/key/rotate', { form_token }, headers)).status).toBe(403);
    expect((await browser.post('/account/key/rotate', {})).status).toBe(403);
  });
});

describe('the page of the key', () => {
  it('leads visitors to the sign-in', async () => {
    expect((await new PageClient(gateway.url).get('/account/key')).location).toBe('/sign-in?next=%2Faccount%2Fkey');
  });

  it('is not shown again after signing out', async () => {
    const browser = await signedIn('out');
    const token = browser.cookies.get('dp_session') ?? '';
    expect((await browser.submit('/account/key', '/sign-out')).location).toBe('/');
    expect(browser.cookies.has('dp_session')).toBe(false);
    browser.cookies.set('dp_session', token);
    expect((await browser.get('/account/key')).status).toBe(302);
  });

  it('is written in Indonesian for readers who prefer it', async () => {
    const browser = await signedIn('bahasa');
    const { text } = await browser.get('/account/key', { 'accept-language': 'id-ID,id;q=0.9' });
    expect(text).toContain('<h1>API key kamu</h1>');
  });
});
