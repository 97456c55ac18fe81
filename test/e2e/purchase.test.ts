import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readQris } from '#core/business/payments/qris.ts';
import { type BrowserWindow, launchBrowser, narrow, sidewaysOverflow, type TestBrowser } from '../support/browser.ts';
import { startFakeGoogle } from '../support/fake-google.ts';
import { createFakeMidtrans } from '../support/fake-midtrans.ts';
import { createFakeXendit } from '../support/fake-xendit.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';
import { readQr } from '../support/read-qr.ts';
import { redisUrl } from '../support/redis.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const demo = `${wholePipeline}
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] } }
`;

let browser: TestBrowser;
const shops: TestGateway[] = [];
/** The shop with nothing configured, once a test has opened it. */
let sandbox: TestGateway | undefined;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  for (const shop of shops) await shop[Symbol.asyncDispose]();
});

/** A gateway that knows its own address, which is where providers notify. */
async function open(yaml: string, environment: Record<string, string> = {}): Promise<TestGateway> {
  const shop = await startGateway({ yaml: demo + yaml, environment });
  shops.push(shop);
  await shop.write(`${demo}service: { base_url: "${shop.url}" }\n${yaml}`);
  await shop.gateway.reload();
  return shop;
}

async function signInLocally(page: Page, email: string): Promise<void> {
  await page.fill('#email', email);
  await page.click('main form button');
}

/** Pays for the chosen plan up to the QR code. @returns the order, and the amount that a wallet reads from the screen */
async function order(page: Page): Promise<{ code: string; amount: number | undefined }> {
  await page.click('.offer:has(:checked) .summary button');
  await page.waitForURL(/\/orders\/ORD-\w+$/);
  const { text } = readQr(await page.locator('.qr').screenshot());
  return { code: page.url().split('/').at(-1) ?? '', amount: readQris(text).amount };
}

async function revealKey(page: Page): Promise<string> {
  await page.click('form[action$="/key"] button');
  return (await page.textContent('#key')) ?? '';
}

/** What a client of the OpenAI SDK gets with this key. */
async function ask(shop: TestGateway, apiKey: string): Promise<string> {
  const client = new OpenAI({ apiKey, baseURL: `${shop.url}/v1`, maxRetries: 0 });
  const { choices } = await client.chat.completions.create({
    model: 'dp/demo',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  return choices[0]?.message.content ?? '';
}

async function expectSound({ page, complaints }: BrowserWindow): Promise<void> {
  expect([complaints, await sidewaysOverflow(page)]).toEqual([[], 0]);
}

describe('a purchase in a browser succeeds', () => {
  it('with the sandbox, from a gateway with nothing configured, on a phone in Indonesian', async () => {
    const shop = (sandbox ??= await open(''));
    await using phone = await browser.open({ ...narrow, locale: 'id-ID' });
    const { page } = phone;
    await page.goto(shop.url);
    await page.click('a[href="/buy?days=7"]');
    await signInLocally(page, 'ani@example.com');
    await page.waitForURL('**/buy?days=7');
    await expectSound(phone);
    const { code, amount } = await order(page);
    expect(amount).toBe(95_000);
    await expectSound(phone);
    await payInSandbox(page);
    await page.waitForURL(`**/orders/${code}/done`);
    expect(await page.textContent('.flash.ok')).toContain('Lunas. Paket 7 hari kamu aktif.');
    const key = await revealKey(page);
    await expectSound(phone);
    expect(await ask(shop, key)).not.toBe('');

    await page.goto(`${shop.url}/buy?days=1`);
    expect((await order(page)).amount).toBe(18_000);
    await payInSandbox(page);
    await page.waitForURL(/\/done$/);
    expect(await page.textContent('.flash.ok')).toContain('Lunas. 1 hari sudah ditambahkan.');
    expect(await page.locator('form[action$="/key"]').count()).toBe(0);
    expect(await ask(shop, key)).not.toBe('');
    await page.goto(`${shop.url}/orders`);
    await expectSound(phone);
  });

  it('removes its QR code when the order expires', async () => {
    const shop = (sandbox ??= await open(''));
    await using laptop = await browser.open();
    const { page } = laptop;
    await page.goto(`${shop.url}/buy?days=3`);
    await signInLocally(page, 'dewi@example.com');
    const { code } = await order(page);
    await shop.database.query(
      "update plan_order set expires_at = clock_timestamp() + interval '2 seconds' where code = ?",
      [code],
    );
    await page.reload();
    await page.waitForSelector('[data-view=expired]');
    expect(await page.locator('.qr, .save').count()).toBe(0);
    await expectSound(laptop);
  });

  it('with Google, Midtrans and jobs on Redis', async () => {
    await using midtrans = await createFakeMidtrans();
    await using google = await startFakeGoogle();
    google.person = { sub: 'budi-1', email: 'budi@example.com', email_verified: true, name: 'Budi' };
    const app = { client_id: 'id', client_secret: 'secret', endpoints: google.endpoints };
    const section = `payments: { provider: midtrans }
midtrans: ${JSON.stringify(midtrans.section)}
sign_in: { google: ${JSON.stringify(app)} }
`;
    const shop = await open(section, redisUrl === undefined ? {} : { REDIS_URL: redisUrl });
    await using laptop = await browser.open();
    const { page } = laptop;
    await page.goto(`${shop.url}/buy?days=30`);
    await page.getByRole('link', { name: 'Continue with Google' }).click();
    await page.waitForURL('**/buy?days=30');
    const { code, amount } = await order(page);
    expect(amount).toBe(289_000);
    await midtrans.pay(midtrans.charge().reference);
    await page.waitForURL(`**/orders/${code}/done`);
    expect(await ask(shop, await revealKey(page))).not.toBe('');
    await expectSound(laptop);
  });

  it('with Xendit, without JavaScript', async () => {
    await using xendit = await createFakeXendit();
    const section = `payments: { provider: xendit }\nxendit: ${JSON.stringify(xendit.section)}\n`;
    const shop = await open(section);
    xendit.notificationUrl = `${shop.url}/hooks/xendit`;
    await using plain = await browser.open({ javaScriptEnabled: false });
    const { page } = plain;
    await page.goto(`${shop.url}/buy?days=3`);
    await signInLocally(page, 'citra@example.com');
    const { code, amount } = await order(page);
    expect(amount).toBe(48_000);
    await xendit.pay(xendit.charge().reference);
    await page.waitForURL(`**/orders/${code}/done`);
    expect(await ask(shop, await revealKey(page))).not.toBe('');
  });
});

/** Stands for the wallet: in another tab, where the pay page leads with the sandbox. */
async function payInSandbox(page: Page): Promise<void> {
  const path = await page.getAttribute('a[href^="/sandbox/"]', 'href');
  const wallet = await page.context().newPage();
  await wallet.goto(new URL(path ?? '', page.url()).href);
  await wallet.click('button[value=pay]');
  await wallet.close();
}
