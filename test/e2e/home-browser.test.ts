import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { getLiveHub } from '#core/web/live/live-route.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { auditPage } from '../support/audit-page.ts';
import { type BrowserWindow, launchBrowser, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

vi.setConfig({ testTimeout: 90_000 });

let browser: TestBrowser;
let gateway: TestGateway;

beforeAll(async () => {
  const yaml = `${wholePipeline}
upstreams: { demo: { vendor: demo } }
models:
  plain: { routes: [demo/chatty] }
  failing-over: { routes: [demo/fail-503, demo/chatty] }
`;
  [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ yaml })]);
}, 120_000);
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

/** A window in which this account is signed in. */
async function openHome(accountId: string, options = {}): Promise<BrowserWindow> {
  const window = await browser.open(options);
  const { token } = await new Sessions(gateway.database).create(accountId, 'test');
  await window.page.context().addCookies([{ name: 'dp_session', value: token, url: gateway.url }]);
  await window.page.goto(`${gateway.url}/dashboard`);
  return window;
}

async function newAccount(days?: number, limits?: { readonly limit: number; readonly burst: number }) {
  const period = days === undefined ? undefined : { days, reason: 'grant' as const };
  const options = { name: 'Rani Putri', ...(period && { period }), ...(limits && { limits }) };
  return createAccount(gateway.database, 'dp', options);
}

/** Streams that are open at the gateway. */
const streams = () => getLiveHub(() => gateway.gateway.host);

const rows = (page: Page) => page.locator('#latest tbody tr');

/** The last two hours of the chart's table: one may have begun since a request was sent. */
async function lastHours(page: Page): Promise<string[]> {
  return (await page.locator('#chart tbody tr').allInnerTexts()).slice(-2);
}

describe('the home page', () => {
  it('shows requests as the OpenAI SDK sends them, and which of them had a failover', async () => {
    const { accountId, key } = await newAccount(7);
    await using window = await openHome(accountId);
    const { page } = window;
    await page.getByText('No requests yet').waitFor();
    const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` });
    const send = (model: string) =>
      openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'hello' }] });

    await send('dp/plain');
    await rows(page).filter({ hasText: 'dp/plain' }).waitFor();
    await page.getByText('No requests yet').waitFor({ state: 'detached' });
    await page.locator('#chart-plot canvas').waitFor();

    await send('dp/failing-over');
    const failover = rows(page).filter({ hasText: 'dp/failing-over' });
    await failover.locator('.badge').getByText('2 attempts').waitFor();
    expect(await rows(page).count()).toBe(2);
    await vi.waitFor(
      async () => expect(await page.locator('#tiles').innerText()).toMatch(/Requests since (yesterday )?\d\d:00\s+2\b/),
      10_000,
    );
    expect(await page.locator('#models').innerText()).toContain('dp/failing-over');
    await page.locator('#chart-plot').press('ArrowLeft');
    expect(await page.locator('#chart-tip').innerText()).toMatch(/^\d\d:00 so far · Answered \d+ · Errors 0$/);
    await page.locator('#chart-plot').press('Home');
    expect(await page.locator('#chart-tip').innerText()).toMatch(/^\d\d:00 · Answered 0 · Errors 0$/);

    await page.getByRole('link', { name: '30 days' }).click();
    await page.waitForURL('**/dashboard?range=30d');
    await vi.waitFor(async () => expect(await page.locator('#chart tbody tr').count()).toBe(30), 10_000);
    await send('dp/plain');
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(3), 10_000);
    await vi.waitFor(() => expect(streams().size).toBe(1), 10_000);
    expect(window.complaints).toEqual([]);
  });

  it('shows that the pass has ended when its countdown reaches zero', async () => {
    const { accountId } = await newAccount();
    await using window = await openHome(accountId);
    // After the window is open, which can take longer than the pass lasts.
    await gateway.database.query(
      `insert into plan_period (id, account_id, starts_at, ends_at, days, reason)
       values (gen_random_uuid(), ?, now() - interval '1 day' + interval '8 seconds', now() + interval '8 seconds', 1, 'grant')`,
      [accountId],
    );
    const { page } = window;
    await page.reload();
    const countdown = page.getByRole('timer');
    await countdown.waitFor();
    expect(await countdown.innerText()).toMatch(/^00:00:0\d$/);
    await page.getByText('Your pass ends in 1 minute.').waitFor();
    await page.getByText('No active pass').waitFor();
    await page.getByText(/^Your pass ended/).waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('keeps focus, an open table and the chart when its parts change', async () => {
    const { accountId, key } = await newAccount(1);
    await using window = await openHome(accountId);
    const { page } = window;
    const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` });
    const send = () =>
      openai.chat.completions.create({ model: 'dp/plain', messages: [{ role: 'user', content: 'x' }] });
    await send();
    await rows(page).first().waitFor();
    await page.getByText('Show as table').click();
    await rows(page).first().getByRole('link').focus();
    const focused = await page.evaluate('document.activeElement.id');
    await send();
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(2), 10_000);
    expect(await page.evaluate('document.activeElement.id')).toBe(focused);
    expect(await page.locator('#chart-table').getAttribute('open')).not.toBeNull();
    const answered = (await lastHours(page)).map((hour) => Number(/(\d+)\s+\d+$/.exec(hour)?.[1]));
    expect(answered.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(await page.locator('#chart-plot canvas').count()).toBe(1);
  });

  it('closes its stream while it is hidden, and catches up when it is visible again', async () => {
    const { accountId } = await newAccount(1);
    await using window = await openHome(accountId);
    const { page } = window;
    await vi.waitFor(() => expect(streams().size).toBe(1), 10_000);
    await page.clock.install();
    const see = (state: string) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, value: ${state === 'hidden'} });
         document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await see('hidden');
    await page.clock.runFor(11_000);
    await vi.waitFor(() => expect(streams().size).toBe(0), 10_000);
    await see('visible');
    await vi.waitFor(() => expect(streams().size).toBe(1), 10_000);
  });

  it('explains why it no longer updates when the session has ended', async () => {
    const { accountId } = await newAccount(1);
    await using window = await openHome(accountId);
    await window.page.getByRole('timer').waitFor();
    await new Sessions(gateway.database).revokeAll(accountId);
    await window.page.getByText('You were signed out. Sign in to continue.').waitFor();
  });

  it('draws its chart in a browser that names a language which Intl does not know', async () => {
    const { accountId, key } = await newAccount(1);
    const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` });
    await openai.chat.completions.create({ model: 'dp/plain', messages: [{ role: 'user', content: 'x' }] });
    await using window = await openHome(accountId);
    const { page } = window;
    await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })`);
    await page.reload();
    await rows(page).first().waitFor();
    await page.locator('#chart-plot canvas').waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('shows its figures as a table without JavaScript', async () => {
    const { accountId, key } = await newAccount(1);
    const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` });
    await openai.chat.completions.create({ model: 'dp/plain', messages: [{ role: 'user', content: 'x' }] });
    await using window = await openHome(accountId, { javaScriptEnabled: false });
    await vi.waitFor(async () => {
      await window.page.reload();
      expect(await rows(window.page).count()).toBe(1);
    }, 10_000);
    expect((await lastHours(window.page)).join('\n')).toMatch(/1\s+0$/m);
    expect(await window.page.locator('#chart-plot').isVisible()).toBe(false);
    expect(await window.page.locator('#chart table').isVisible()).toBe(true);
    expect(await window.page.locator('noscript').innerText()).toMatch(/^As of \d\d:\d\d:\d\d$/);
  });

  it('is accessible, and as wide as its window, over 30 days, with limits of millions', async () => {
    const { accountId, key } = await newAccount(3, { limit: 2_000_000, burst: 1_000_000 });
    await using window = await openHome(accountId);
    const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1` });
    await openai.chat.completions.create({ model: 'dp/failing-over', messages: [{ role: 'user', content: 'x' }] });
    await window.page.goto(`${gateway.url}/dashboard?range=30d`);
    await rows(window.page).first().waitFor();
    expect(await auditPage(window, `${gateway.url}/dashboard?range=30d`)).toEqual([]);
  });
});
