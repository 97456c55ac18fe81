import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { auditPage } from '../support/audit-page.ts';
import { type BrowserWindow, launchBrowser, narrow, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const payload = '"><img src=x onerror=alert(1)>';
const yaml = (url: string) => `${wholePipeline}
service: { base_url: "${url}", contact: "mailto:help@example.com" }
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] } }
plans:
  - { days: 1, price: 18000, label: for trying out }
  - { days: 7, price: 95000, label: '${payload}' }
  - { days: 30, price: 289000 }
`;

let browser: TestBrowser;
let shop: TestGateway;

beforeAll(async () => {
  [browser, shop] = await Promise.all([launchBrowser(), startGateway({ yaml: yaml('http://localhost') })]);
  await shop.write(yaml(shop.url));
  await shop.gateway.reload();
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await shop?.[Symbol.asyncDispose]();
});

/** Presses Tab until this has the focus; fails if the keyboard cannot reach it. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if (await page.locator(selector).evaluateAll((found) => found.some((one) => one.matches(':focus')))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`40 times Tab do not lead to ${selector}`);
}

async function press(page: Page, selector: string): Promise<void> {
  await tabTo(page, selector);
  await page.keyboard.press('Enter');
}

async function signIn({ page }: BrowserWindow, email: string, name: string): Promise<void> {
  await page.goto(`${shop.url}/sign-in?next=/buy`);
  await page.fill('#email', email);
  await page.fill('#name', name);
  await page.click('main form button');
  await page.waitForURL(`${shop.url}/buy`);
}

/** @returns the path of a new order */
async function order({ page }: BrowserWindow, days: number): Promise<string> {
  await page.goto(`${shop.url}/buy?days=${days}`);
  await page.click('.offer:has(:checked) button');
  await page.waitForURL(/\/orders\/ORD-\w+$/);
  return new URL(page.url()).pathname;
}

async function pay({ page }: BrowserWindow, path: string): Promise<void> {
  await page.goto(shop.url + path);
  await page.click('a[href^="/sandbox/"]');
  await page.click('button[value=pay]');
  await page.locator('main .flash.ok').waitFor();
  await page.goto(shop.url + path);
  await page.waitForURL('**/done');
}

const setState = (path: string, state: string) =>
  shop.database.query('update plan_order set state = ? where code = ?', [state, path.split('/').at(-1)]);

describe('the purchase', () => {
  it('can be completed by keyboard on a phone in Indonesian, and confirms the first request', async () => {
    await using phone = await browser.open({ ...narrow, locale: 'id-ID' });
    const { page, complaints } = phone;
    await page.goto(`${shop.url}/buy?days=1`);
    await tabTo(page, '#email');
    await page.keyboard.type('papan@example.com');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/buy?days=1');
    await tabTo(page, '[name=days]');
    await page.keyboard.press('ArrowDown');
    await press(page, '.offer:has(:checked) button');
    await page.waitForURL(/\/orders\/ORD-\w+$/);
    const path = new URL(page.url()).pathname;

    // What a buyer needs is seen without scrolling: amount, code and the button that saves it.
    const boxes = await Promise.all(['.sum', '.qr', '.save'].map((part) => page.locator(part).boundingBox()));
    const ends = boxes.map((box) => (box?.y ?? 0) + (box?.height ?? Infinity));
    expect(Math.max(...ends)).toBeLessThanOrEqual(560);
    expect(boxes[1]?.width).toBeGreaterThanOrEqual(272);
    expect(await page.textContent('.sum')).toBe('Rp\u00a095.000');

    await press(page, 'a[href^="/sandbox/"]');
    await page.waitForURL('**/sandbox/**');
    await press(page, 'button[value=pay]');
    await page.locator('main .flash.ok').waitFor();
    await page.goto(shop.url + path);
    await page.waitForURL('**/done');
    await press(page, 'form[action$="/key"] button');
    const key = (await page.textContent('#key')) ?? '';
    await tabTo(page, '[data-copy="#key"]');
    await tabTo(page, '#tool-setup');
    const command = (await page.textContent('#sample-setup')) ?? '';
    expect([command.includes(`curl -fsSL ${shop.url}/setup.sh | sh`), command.includes(key)]).toEqual([true, false]);
    expect(await page.getAttribute('#sample-setup', 'data-value')).toBe(`curl -fsSL ${shop.url}/setup.sh | sh`);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('#sample-claude-code').isVisible()).toBe(true);
    expect(await page.textContent('#sample-claude-code')).toContain(key);

    await page.getByText('Menunggu request pertama kamu').waitFor();
    const client = new OpenAI({ apiKey: key, baseURL: `${shop.url}/v1`, maxRetries: 0 });
    await client.chat.completions.create({ model: 'dp/demo', messages: [{ role: 'user', content: 'Halo' }] });
    await page.getByText('Request kamu sudah masuk.').waitFor();
    expect([await page.textContent('#key'), complaints]).toEqual([key, []]);
  });

  it('prints a receipt on one sheet in both languages, and executes no stored text as code', async () => {
    await using laptop = await browser.open();
    await signIn(laptop, 'nama@example.com', `${payload} ${'Nama Panjang '.repeat(6)}`);
    // No form takes such an address; a provider might.
    await shop.database.query("update account set email = ? where email = 'nama@example.com'", [payload]);
    const path = await order(laptop, 7);
    await pay(laptop, path);
    for (const language of ['en', 'id']) {
      await laptop.page.setExtraHTTPHeaders({ 'accept-language': language });
      await laptop.page.goto(`${shop.url}${path}/receipt`);
      const pdf = await laptop.page.pdf({ preferCSSPageSize: true });
      expect([language, pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length]).toEqual([language, 1]);
    }
    for (const page of ['/buy', '/orders', '/account/delete', '/account/key']) await laptop.page.goto(shop.url + page);
    expect(laptop.complaints).toEqual([]);
  });

  it('has no accessibility, console or layout error in the states that every-page.test.ts does not open', async () => {
    await using laptop = await browser.open();
    await signIn(laptop, 'sehat@example.com', 'Rina Pratiwi');
    const audit = async (path: string) =>
      auditPage(laptop, shop.url + path, { widths: [320, 1280], axeWidths: [1280] });
    const path = await order(laptop, 30);
    const found = [...(await audit('/buy')), ...(await audit(`${path}?checked=1`))];
    // An open page of the order would load itself again while it is looked at.
    await laptop.page.goto('about:blank');
    await setState(path, 'failed');
    for (const other of [path, '/account/key/rotate', '/account-deleted']) found.push(...(await audit(other)));
    expect(found).toEqual([]);
  });
});
