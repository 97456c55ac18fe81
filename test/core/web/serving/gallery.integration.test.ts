import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Server } from '@hapi/hapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineTexts } from '#core/web/texts/texts.ts';
import { auditPage } from '../../../support/audit-page.ts';
import { type BrowserWindow, launchBrowser, type TestBrowser } from '../../../support/browser.ts';
import { pageAt, pageHost, servePages } from '../page-fixture.ts';
import { gallery } from './gallery-fixture.ts';

const day = 86_400_000;

let browser: TestBrowser;
let window: BrowserWindow;
let server: Server;
let url: string;

beforeAll(async () => {
  server = await servePages(pageHost(), ({ gateway }) => {
    gateway.texts(defineTexts({ en: { 'gallery.title': 'Components' }, id: { 'gallery.title': 'Komponen' } }));
    const template = join(import.meta.dirname, 'gallery-fixture.eta');
    gateway.page(pageAt('/gallery', { title: 'gallery.title', navigation: 'gallery.title', template, show: gallery }));
  });
  await server.start();
  url = `http://127.0.0.1:${(server.listener.address() as AddressInfo).port}/gallery`;
  browser = await launchBrowser();
  window = await browser.open({ permissions: ['clipboard-read', 'clipboard-write'] });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await server?.stop();
});

describe('the components', () => {
  it('are accessible, fit on phones, and violate no policy', async () => {
    expect(await auditPage(window, url)).toEqual([]);
  });

  it('copy text and confirm it', async () => {
    const { page } = window;
    await page.goto(url);
    // Watched for before the click: it is shown for three seconds only.
    await Promise.all([
      page.locator('.toast', { hasText: /^Copied$/ }).waitFor(),
      page.getByRole('button', { name: 'Copy key' }).click(),
    ]);
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^dp-live-/);
  });

  it('report that the browser does not allow copying', async () => {
    await using opened = await browser.open();
    const { page, complaints } = opened;
    await page.addInitScript(
      `navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))`,
    );
    await page.goto(url);
    await Promise.all([
      page.locator('.toast', { hasText: /^The browser did not allow copying\. / }).waitFor(),
      page.getByRole('button', { name: 'Copy key' }).click(),
    ]);
    expect(complaints).toEqual([]);
  });

  it('show names whole where there is room, with a fraction of a pixel to spare', async () => {
    const { page } = window;
    await page.goto(url);
    const rooms = (await page.evaluate(`[...document.querySelectorAll('.names .id')].map((name) => {
      const [head, tail] = [...name.children].map((part) => part.getBoundingClientRect().width);
      const cut = [...name.children].some((part) => part.scrollWidth > part.clientWidth + 1);
      return { cut, spare: name.getBoundingClientRect().width - head - tail };
    })`)) as { cut: boolean; spare: number }[];
    expect(rooms).toHaveLength(3);
    for (const { cut, spare } of rooms) {
      expect(cut).toBe(false);
      expect(spare).toBeGreaterThanOrEqual(0.5);
    }
  });

  it('show the tail of a name that is cut', async () => {
    const { page } = window;
    await page.goto(url);
    const seen = await page.evaluate(`[...document.querySelectorAll('.names .id')].map((name) => {
      name.parentElement.style.width = '130px';
      name.scrollIntoView();
      const [head, tail] = name.children;
      const { left, top, height } = tail.getBoundingClientRect();
      return [head.scrollWidth > head.clientWidth, document.elementFromPoint(left + 4, top + height / 2) === tail];
    })`);
    expect(seen).toEqual([
      [true, true],
      [true, true],
      [true, true],
    ]);
  });

  it('keep prices of millions within their cards', async () => {
    await using phone = await browser.open({ viewport: { width: 390, height: 800 } });
    const { page } = phone;
    await page.goto(url);
    // Px between the end of a price and the edge of its card.
    const margins = (await page.evaluate(`[...document.querySelectorAll('.price')].map((price) => {
      const end = document.createRange();
      end.selectNodeContents(price);
      return price.closest('.plan').getBoundingClientRect().right - end.getBoundingClientRect().right;
    })`)) as number[];
    expect(margins).toHaveLength(4);
    for (const margin of margins) expect(margin).toBeGreaterThanOrEqual(16);
  });

  it('count down by the server, whatever clock the reader has', async () => {
    // Of its own, because its clock stands still.
    await using stopped = await browser.open();
    const { page } = stopped;
    await page.clock.install({ time: new Date('2001-01-01') });
    await page.clock.pauseAt(new Date('2001-01-02'));
    await page.goto(url);
    expect(await page.innerText('.countdown')).toMatch(/^4\s*d 07:12:4\d$/);
    await page.clock.fastForward(4 * day);
    expect(await page.innerText('.countdown')).toMatch(/^07:12:4\d$/);
    await page.evaluate('addEventListener("countdown-end", () => (document.title = "over"))');
    await page.clock.fastForward(day);
    expect([await page.innerText('.countdown'), await page.title()]).toEqual(['00:00:00', 'over']);
  });

  it('ask in a dialog, and cancel first', async () => {
    const { page } = window;
    await page.goto(url);
    await page.getByRole('link', { name: 'Rotate' }).click();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await page.keyboard.press('Escape');
    expect(await page.locator('dialog').isVisible()).toBe(false);
  });
});
