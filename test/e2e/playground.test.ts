import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeLimits } from '#core/business/accounts/account-key.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { type AuditOptions, auditPage } from '../support/audit-page.ts';
import { launchBrowser, narrow, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

const path = '/dashboard/try';
/** For `expect.poll`: the machine may be busy. */
const patience = { timeout: 20_000 };
const attack = '"><img src=x onerror="wasAttacked=1"><script>wasAttacked=1</script>';

// An upstream that stalls is stopped by the reader, however long the browser takes.
const yaml = `${wholePipeline.replace('idle_timeout: 5', 'idle_timeout: 60')}
upstreams:
  demo: { vendor: demo }
  painter: { format: images, base_url: "http://127.0.0.1:9/v1" }
models:
  demo: { routes: [demo/chatty], display_name: ${JSON.stringify(attack)} }
  down: { routes: [demo/fail-503] }
  painter: { routes: [painter/draw] }
  a-name-of-sixty-characters-that-shows-how-long-names-wrap-1: { routes: [demo/chatty] }
aliases: { other: demo }
`;

let browser: TestBrowser;
let gateway: TestGateway;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ yaml })]);
}, 120_000);
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

/** A new account in a window, with days unless it has none. */
async function openWindow({ days = 1, options }: { days?: number; options?: BrowserContextOptions } = {}) {
  const window = await browser.open(options);
  const { page } = window;
  const email = `${crypto.randomUUID()}@example.com`;
  await page.goto(`${gateway.url}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.locator('main form button').click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
  const [account] = await gateway.database.query<{ id: string }>('select id from account where email = ?', [email]);
  const accountId = account?.id ?? '';
  if (days > 0) await grantDays(gateway.database, accountId, { days });
  return { window, page, accountId, [Symbol.asyncDispose]: () => window[Symbol.asyncDispose]() };
}

async function openPlayground(page: Page, model = 'dp/demo'): Promise<void> {
  await page.goto(`${gateway.url}${path}?model=${model}`);
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.keyboard.press('Control+Enter');
}

const answer = (page: Page) => page.locator('.turn.assistant').last();
const facts = (page: Page) => answer(page).locator('.facts-line');
const error = (page: Page) => page.locator('#error');

/** The record of the request that the last answer links to. */
async function recordOf(page: Page) {
  const id = (await facts(page).locator('a').getAttribute('href'))?.split('/').at(-1);
  const find = () =>
    gateway.database.query<Record<string, unknown>>(
      'select account_id, key_hint, outcome, model from request_log where id = ?',
      [id],
    );
  await expect.poll(async () => (await find()).length, patience).toBe(1);
  return (await find())[0];
}

describe('the playground', () => {
  it('streams an answer by keyboard, and records the request for the account', async () => {
    await using opened = await openWindow();
    const { page, window, accountId } = opened;
    await openPlayground(page);
    await page.getByLabel('Message').focus();
    await page.keyboard.type('Hello there');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => facts(page).textContent(), patience)
      .toMatch(/\d+ in · \d+ out · first token .+ · total .+ ·\s+Open/);
    expect(await answer(page).textContent()).toContain('Hello there');
    expect(await recordOf(page)).toMatchObject({ account_id: accountId, key_hint: 'playground', outcome: 'answered' });
    expect(window.complaints).toEqual([]);
  });

  it('keeps the conversation, and shows the same request as code', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await send(page, 'First');
    await facts(page).getByRole('link').waitFor();
    await page.getByLabel('Message').fill(`It's "second"`);
    const curl = await page.locator('#sample-curl code').textContent();
    expect(curl).toContain(`"content": "It'\\''s \\"second\\""`);
    expect(curl).toContain('"role": "assistant"');
    await page.locator('#sample-curl').getByRole('link', { name: 'Python' }).click();
    expect(await page.locator('#sample-python code').textContent()).toContain(`"content": "It's \\"second\\""`);
    expect(await page.locator('#sample-curl').isVisible()).toBe(false);
  });

  it('stops an answer, which is recorded as aborted by the client', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await send(page, 'Hello [[stall-midway]]');
    await expect.poll(() => answer(page).locator('.turn-text').textContent(), patience).toContain('Hello');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => facts(page).textContent(), patience).toContain('You stopped it.');
    expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(false);
    expect(await recordOf(page)).toMatchObject({ outcome: 'aborted' });
  });

  it('reports that an answer broke off, keeps the received text, and offers the message again', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await send(page, 'Hello [[cut]]');
    await expect.poll(() => facts(page).textContent(), patience).toContain('The response broke off.');
    expect(await answer(page).locator('.turn-text').textContent()).not.toBe('');
    expect(await page.getByLabel('Message').inputValue()).toBe('Hello [[cut]]');
  });

  it('shows answers as text, not as HTML', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await send(page, attack);
    await facts(page).getByRole('link').waitFor();
    expect(await answer(page).locator('.turn-text').textContent()).toContain(attack);
    expect(await page.evaluate('globalThis.wasAttacked')).toBeUndefined();
  });
});

describe('a request that fails', () => {
  it('links to the plans if there is no pass, and keeps the message', async () => {
    await using opened = await openWindow({ days: 0 });
    const { page } = opened;
    await openPlayground(page);
    await send(page, 'Hello');
    await expect.poll(() => error(page).textContent(), patience).toContain('No active pass.');
    expect(await error(page).getByRole('link').getAttribute('href')).toBe('/buy');
    expect(await page.getByLabel('Message').inputValue()).toBe('Hello');
  });

  it('is reported with a link to its record if every route failed', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page, 'dp/down');
    await send(page, 'Hello');
    await expect.poll(() => error(page).textContent(), patience).toContain('No route responded.');
    expect(await error(page).getByRole('link').getAttribute('href')).toMatch(/^\/dashboard\/requests\/req_/);
  });

  it('counts down the seconds of a rate limit, and is sent again after them', async () => {
    await using opened = await openWindow();
    const { page, accountId } = opened;
    // Long enough for the first answer, which must be over before the second request is refused.
    await changeLimits(gateway.database, accountId, { limit: 1, period: 8, burst: 1 });
    await openPlayground(page);
    await send(page, 'One');
    await facts(page).getByRole('link').waitFor();
    await send(page, 'Two');
    await expect
      .poll(() => error(page).textContent(), patience)
      .toMatch(/Rate limit reached\.\s*Send again in [1-8] s\./);
    await expect.poll(() => error(page).textContent(), patience).toBe('');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => page.locator('.turn.assistant .facts-line a:not([hidden])').count(), patience).toBe(2);
  });

  it('because the session has ended links to the sign-in', async () => {
    await using opened = await openWindow();
    const { page, accountId } = opened;
    await openPlayground(page);
    await new Sessions(gateway.database).revokeAll(accountId);
    await send(page, 'Hello');
    await expect.poll(() => error(page).textContent(), patience).toContain('You were signed out.');
    expect(await error(page).getByRole('link').getAttribute('href')).toBe('/sign-in?next=/dashboard/try');
  });

  it('because the gateway cannot be reached is reported', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await page.context().setOffline(true);
    await send(page, 'Hello');
    await expect.poll(() => error(page).textContent(), patience).toContain('The gateway did not respond.');
  });
});

describe('without JavaScript the playground', () => {
  it('shows whole answers, turn after turn, through the same log', async () => {
    await using opened = await openWindow({ options: { javaScriptEnabled: false, ...narrow } });
    const { page, accountId } = opened;
    await openPlayground(page);
    for (const text of ['First', 'Second']) {
      await page.getByLabel('Message').fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.locator('.turn.assistant', { hasText: text }).waitFor();
    }
    expect(await page.locator('.turn').count()).toBe(4);
    expect(await recordOf(page)).toMatchObject({ account_id: accountId, key_hint: 'playground', outcome: 'answered' });
  });

  it('explains what went wrong', async () => {
    await using opened = await openWindow({ days: 0, options: { javaScriptEnabled: false } });
    const { page } = opened;
    await openPlayground(page);
    await page.getByLabel('Message').fill('Hello');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('No active pass.').waitFor();
    expect(await page.getByLabel('Message').inputValue()).toBe('Hello');
  });
});

describe('a model that only makes images', () => {
  it('has no chat, and its request is shown as code', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await page.getByLabel('Model').selectOption('dp/painter');
    await page.getByText('dp/painter generates images.').waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).count()).toBe(0);
    expect(await page.locator('#sample-curl code').textContent()).toContain('/v1/images/generations');
  });
});

describe('the pages', () => {
  it('of models, tools and the playground have no accessibility or console error in both languages and themes', async () => {
    await using opened = await openWindow();
    const { window, page } = opened;
    const audit = (to: string, options: AuditOptions = {}) => auditPage(window, gateway.url + to, options);
    const views = [{ language: 'en', theme: 'dark' }] as const;
    const talk = async () => {
      await page.locator('#message').fill('Hello');
      await page.locator('#send').click();
      await page.locator('.facts-line a:not([hidden])').waitFor();
    };
    const wrong = [
      ...(await audit('/dashboard/models/dp/demo')),
      ...(await audit('/dashboard/connect?tool=cline&system=windows', { views, axeWidths: [1280] })),
      ...(await audit('/dashboard/connect?tool=cursor', { views, axeWidths: [360] })),
      ...(await audit('/dashboard/try', { prepare: talk })),
      ...(await audit('/dashboard/try?model=dp/painter', { views, axeWidths: [360] })),
    ];
    expect(wrong).toEqual([]);
    expect(await page.evaluate('globalThis.wasAttacked')).toBeUndefined();
  });

  it('filter models while a name is typed, and report when none matches', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await page.goto(`${gateway.url}/dashboard/models`);
    await page.getByLabel('Search models').fill('pain');
    await expect.poll(() => page.locator('tbody tr').count(), patience).toBe(1);
    // The stream of the page knows nothing of this search, and must not bring the other rows back.
    expect(await page.locator('#catalog').getAttribute('data-hold')).not.toBeNull();
    await page.getByLabel('Search models').fill('nothing of this');
    await page.getByText('No model matches.').waitFor();
    await page.getByRole('link', { name: 'Clear all' }).click();
    await expect.poll(() => page.locator('tbody tr').count(), patience).toBe(4);
  });

  it('lead from a row to the page of the model, whose code changes its language without a reload', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await page.goto(`${gateway.url}/dashboard/models?sort=-name`);
    expect(await page.getByRole('columnheader', { name: 'Model' }).getAttribute('aria-sort')).toBe('descending');
    await page.getByRole('link', { name: 'dp/down', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('rowheader', { name: 'Anthropic Messages' }).waitFor();
    await page.getByRole('link', { name: 'Python' }).click();
    await page.getByText('from openai import OpenAI').waitFor();
    expect(new URL(page.url()).search).toBe('');
  });

  it('of a model are found by an alias, and missing ones say so', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await page.goto(`${gateway.url}/dashboard/models/other`);
    expect(new URL(page.url()).pathname).toBe('/dashboard/models/dp/demo');
    const reply = await page.goto(`${gateway.url}/dashboard/models/dp/nothing`);
    expect(reply?.status()).toBe(404);
  });
});
