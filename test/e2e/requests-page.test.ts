import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { RecordBook } from '../core/gateway/records/record-fixture.ts';
import { failover } from '../plugins/dashboard/requests/fixture.ts';
import { auditPage } from '../support/audit-page.ts';
import { type BrowserWindow, launchBrowser, narrow, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';

const path = '/dashboard/requests';

let browser: TestBrowser;
let gateway: TestGateway;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ yaml: yamlFor('http://127.0.0.1:9') })]);
}, 120_000);
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

/** A new account in a window, with one request of two attempts among others. */
async function openWindow(options: Parameters<TestBrowser['open']>[0] = {}, others = 1) {
  const window = await browser.open(options);
  const { page } = window;
  const email = `${crypto.randomUUID()}@example.com`;
  await page.goto(`${gateway.url}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.locator('main form button').click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
  const [account] = await gateway.database.query<{ id: string }>('select id from account where email = ?', [email]);
  const write = writerFor(account?.id ?? '');
  await write(failover);
  for (let count = 0; count < others; count++) await write({});
  await page.goto(gateway.url + path);
  return { window, page, write };
}

const attack = '"><img src=x onerror="wasAttacked=1"><script>wasAttacked=1</script>';

/** A record with markup and long names in every text. */
const hostile: Partial<RequestRecord> = {
  model: `dp/${'very-long-name-of-a-model-'.repeat(3)}`,
  path: `/v1/${attack}`,
  user_agent: attack,
  remote_address: attack,
  key_hint: attack,
  format: attack,
  outcome: 'failed',
  status: 502,
  error_code: attack as never,
  error_message: attack,
  notes: [`dropped ${attack}`, attack],
  has_failover: true,
  attempts: failover.attempts.map((attempt) => ({ ...attempt, route: attack, fault: attack as never })),
};

/** Writes a record as the log does, and announces it. */
function writerFor(accountId: string) {
  return async (record: Partial<RequestRecord>): Promise<string> => {
    const book = new RecordBook(gateway.database);
    const written = { started_at: Date.now(), duration_ms: 2500, path: '/v1/responses', ...record };
    const [id = ''] = await book.write({ account_id: accountId, model: 'dp/test', ...written });
    publishLive(gateway.gateway.host, 'requests', [accountId]);
    return id;
  };
}

/** The rows from top to bottom. */
async function idsOf(page: Page): Promise<string[]> {
  return page.locator('[data-row]').evaluateAll((rows) => rows.map(({ id }) => id));
}

async function topIs(page: Page, id: string): Promise<void> {
  await expect.poll(async () => (await idsOf(page))[0], { timeout: 10_000, interval: 50 }).toBe(id);
}

async function focusedId({ page }: BrowserWindow): Promise<string | undefined> {
  return page
    .locator(':focus')
    .first()
    .evaluate(({ id }) => id);
}

describe('a request', () => {
  it('opens beneath its row and closes again by keyboard', async () => {
    const { window, page } = await openWindow();
    await using _ = window;
    const link = page.locator('.request .open').nth(1);
    await link.focus();
    await page.keyboard.press('Enter');
    await page.getByText('503 overloaded, before the first token. Next route tried.').waitFor();
    expect(await link.getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.opened').count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.locator('.opened a').focus();
    await page.keyboard.press('Escape');
    expect([await page.locator('.opened').count(), await focusedId(window)]).toEqual([
      0,
      await link.getAttribute('id'),
    ]);
    expect(window.complaints).toEqual([]);
  });

  it('has its own page where there is no JavaScript', async () => {
    const { window, page } = await openWindow({ javaScriptEnabled: false });
    await using _ = window;
    await page.locator('.request .open').nth(1).click();
    await page.waitForURL(`**${path}/req_*`);
    expect(await page.locator('main').innerText()).toContain('200, first token at 1.09');
  });
});

describe('new requests', () => {
  it('appear without a reload, and the focus stays in place', async () => {
    const { window, page, write } = await openWindow();
    await using _ = window;
    const link = page.locator('.request .open').first();
    await link.focus();
    const id = await link.getAttribute('id');
    await topIs(page, await write({ model: 'dp/fresh' }));
    await topIs(page, await write({ model: 'dp/fresh' }));
    expect(await focusedId(window)).toBe(id);
    expect(await page.locator('#list').innerText()).toContain('4 requests since ');
    expect(window.complaints).toEqual([]);
  });

  it('do not redraw a list that has not changed', async () => {
    const { window, page } = await openWindow();
    await using _ = window;
    await page.addInitScript(`
      globalThis.messages = globalThis.swaps = 0;
      document.addEventListener('htmx:sseBeforeMessage', () => messages++, { capture: true });
      document.addEventListener('htmx:sseMessage', () => swaps++);
    `);
    await page.reload();
    await expect.poll(() => page.evaluate('messages'), { timeout: 10_000 }).toBe(1);
    expect(await page.evaluate('swaps')).toBe(0);
  });

  it('are counted while a request is open, and shown on demand', async () => {
    const { window, page, write } = await openWindow();
    await using _ = window;
    await page.locator('.request .open').first().click();
    await page.locator('.opened').waitFor();
    const before = await idsOf(page);
    await write({});
    await page.getByRole('button', { name: '1 new request', exact: true }).waitFor();
    const last = await write({});
    const button = page.getByRole('button', { name: '2 new requests' });
    await button.waitFor();
    expect(await idsOf(page)).toEqual(before);
    await button.click();
    await topIs(page, last);
    expect([await page.locator('.opened').count(), await page.locator('#show-new').isVisible()]).toEqual([0, false]);
  });

  it('do not move the rows between a click and the request that it opens', async () => {
    const { window, page, write } = await openWindow();
    await using _ = window;
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route('**/row', async (route) => {
      await promise;
      await route.continue();
    });
    await page.locator('.request .open').first().click();
    await write({});
    await page.getByRole('button', { name: '1 new request' }).waitFor();
    resolve();
    await page.locator('.opened').waitFor();
  });

  it('are counted while the list is scrolled, and shown at its top again', async () => {
    const { window, page, write } = await openWindow({ viewport: { width: 1280, height: 500 } }, 20);
    await using _ = window;
    await page.mouse.wheel(0, 600);
    await page.locator('#list[data-hold]').waitFor();
    const last = await write({});
    await page.getByRole('button', { name: '1 new request' }).waitFor();
    await page.mouse.wheel(0, -2000);
    await topIs(page, last);
  });

  it('do not appear while updates are paused', async () => {
    const { window, page, write } = await openWindow();
    await using _ = window;
    await page.getByRole('link', { name: 'Pause' }).click();
    await page.waitForURL('**?live=0');
    const before = await idsOf(page);
    await write({});
    expect(await page.locator('[sse-connect]').count()).toBe(0);
    expect(await idsOf(page)).toEqual(before);
    await page.getByRole('link', { name: 'Resume' }).click();
    await expect.poll(async () => (await idsOf(page)).length).toBe(3);
  });
});

describe('the list', () => {
  it('has two lines a row on phones, the form behind a button', async () => {
    const { window, page } = await openWindow(narrow);
    await using _ = window;
    const row = page.locator('.request').nth(1);
    const box = await row.boundingBox();
    expect(box?.height).toBeLessThan(64);
    expect(await page.getByLabel('Model').isVisible()).toBe(false);
    await page.locator('.filters > summary').click();
    expect(await page.getByLabel('Model').isVisible()).toBe(true);
  });

  it('and its rows, its empty states and the page of a request are accessible, with any recorded text', async () => {
    const { window, page, write } = await openWindow();
    await using _ = window;
    const id = await write(hostile);
    const [light] = [{ language: 'en', theme: 'light' }] as const;
    const openFirst = async () => {
      await page.locator('.request .open').first().click();
      await page.locator('.opened').waitFor();
    };
    const url = gateway.url + path;
    expect([
      ...(await auditPage(window, url, { prepare: openFirst })),
      ...(await auditPage(window, `${url}/${id}`)),
      ...(await auditPage(window, `${url}?model=nothing&status=9999`, { views: [light] })),
    ]).toEqual([]);
    expect(await page.evaluate('globalThis.wasAttacked')).toBeUndefined();
  });
});
