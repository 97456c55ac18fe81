import { hash } from 'node:crypto';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { type BrowserWindow, launchBrowser, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const yaml = (url: string, models: string) => `${wholePipeline}
service: { base_url: "${url}" }
upstreams: { demo: { vendor: demo } }
models: ${models}
`;
const oneModel = '{ first: { routes: [demo/chatty] } }';
const twoModels = '{ first: { routes: [demo/chatty] }, second: { routes: [demo/chatty] } }';

let browser: TestBrowser;
let gateway: TestGateway;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ yaml: yaml('http://localhost', oneModel) })]);
  await load(oneModel);
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

async function load(models: string): Promise<void> {
  await gateway.write(yaml(gateway.url, models));
  await gateway.gateway.reload();
}

/** The page of a buyer who is signed in. */
async function openConnect(query = '', options: BrowserContextOptions = {}): Promise<BrowserWindow> {
  const window = await browser.open(options);
  const { token } = await new Sessions(gateway.database).create(gateway.accountId, 'test');
  await window.page.context().addCookies([{ name: 'dp_session', value: token, url: gateway.url }]);
  await window.page.goto(`${gateway.url}/dashboard/connect${query}`);
  return window;
}

/** What the server sends, byte for byte. */
async function checksumOf(file: string): Promise<string> {
  return hash('sha256', new Uint8Array(await (await fetch(`${gateway.url}/${file}`)).arrayBuffer()));
}

describe('a buyer who connects tools', () => {
  it.each([
    ['linux', (url: string) => `curl -fsSL ${url}/setup.sh | sh`, 'setup.sh'],
    ['macos', (url: string) => `curl -fsSL ${url}/setup.sh | sh`, 'setup.sh'],
    ['windows', (url: string) => `irm ${url}/setup.ps1 | iex`, 'setup.ps1'],
  ])('copies the command of %s, and reads the checksum of the script that it loads', async (system, command, file) => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    await using window = await openConnect(`?tool=all&system=${system}`, { permissions });
    const { page } = window;
    await page.locator('[data-copy="#command"]').click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(command(gateway.url));
    expect(await page.locator('#sha256').textContent()).toBe(await checksumOf(file));
    expect(window.complaints).toEqual([]);
  });

  it('can open one tool, return to all tools, and choose a model', async () => {
    await using window = await openConnect('?system=linux');
    const { page } = window;
    await page.getByRole('heading', { name: 'Claude Code' }).waitFor();
    await page.getByRole('link', { name: 'Codex', exact: true }).click();
    await page.getByRole('heading', { name: 'Codex' }).waitFor();
    await page.getByText('By hand').click();
    await page.locator('.setup-steps').waitFor();
    expect(await page.locator('#command').innerText()).toMatch(/setup\.sh \| sh -s -- --tools codex$/);
    await page.selectOption('#model', 'dp/first');
    await page.getByRole('button', { name: 'Go' }).click();
    await page.locator('#panel').getByRole('link', { name: 'All tools at once' }).click();
    await page.getByText('Read it before you run it').waitFor();
    expect(await page.locator('#command').innerText()).toMatch(/setup\.sh \| sh -s -- --model dp\/first$/);
    expect(window.complaints).toEqual([]);
  });

  it('sees the same page without JavaScript, except for the copy buttons', async () => {
    await using window = await openConnect('?tool=all&system=linux', { javaScriptEnabled: false });
    const { page } = window;
    expect(await page.locator('#command').innerText()).toBe(`curl -fsSL ${gateway.url}/setup.sh | sh`);
    expect(await page.locator('#sha256').textContent()).toBe(await checksumOf('setup.sh'));
    expect(await page.locator('[data-copy]:visible').count()).toBe(0);
    await page.getByRole('link', { name: 'macOS' }).click();
    expect(await page.locator('#long-way').textContent()).toContain('shasum -a 256 setup.sh');
  });

  it('sees the new checksum on the open page when the catalog changes', async () => {
    await using window = await openConnect('?tool=all&system=linux');
    const { page } = window;
    const before = (await page.locator('#sha256').textContent()) ?? '';
    const stream = page.waitForResponse(/\/dashboard\/connect\/live/);
    await page.reload();
    await stream;
    await load(twoModels);
    await page.locator('#sha256', { hasNotText: before }).waitFor({ state: 'attached' });
    expect(await page.locator('#sha256').textContent()).toBe(await checksumOf('setup.sh'));
  });
});
