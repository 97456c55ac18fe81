import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { screensOf } from '../screens/pages.ts';
import { openScreenWorld, type Reader, type ScreenWorld } from '../screens/world.ts';
import { auditPage } from '../support/audit-page.ts';
import { type BrowserWindow, launchBrowser, type TestBrowser } from '../support/browser.ts';
import { createBareDatabase, dropDatabase } from '../support/database.ts';
import { findEnglish } from '../support/find-english.ts';
import { PageClient } from '../support/page-client.ts';
import { type PageWeight, weighPage } from '../support/page-weight.ts';
import { caseFactor } from '../support/runs.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 120_000 });

let browser: TestBrowser;
let databaseUrl: string;
let world: ScreenWorld;

beforeAll(async () => {
  databaseUrl = await createBareDatabase();
  [browser, world] = await Promise.all([launchBrowser(), openScreenWorld(databaseUrl, 3)]);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
  await dropDatabase(databaseUrl);
});

/** Px of windows from the smallest phone to a large screen, and of those for screens that look like others. */
const widths = [320, 390, 768, 1024, 1280, 1920];
const fewWidths = [320, 390, 1280];

/**
 * Each page in both languages and at every width; axe looks once on a phone and once on a laptop, each theme with both. Screens that look
 * like others are looked at in one language, in turn, and at few widths; in full with TEST_CASES=2, as `npm run pages` has it.
 */
const looks = [
  { views: [{ language: 'id', theme: 'light' }], axeWidths: [390] },
  { views: [{ language: 'en', theme: 'dark' }], axeWidths: [1280] },
  { views: [{ language: 'id', theme: 'dark' }], axeWidths: [390] },
  { views: [{ language: 'en', theme: 'light' }], axeWidths: [1280] },
] as const;

/** What upstreams, models, people and the merchant of the sandbox's QR codes say in the sample data. */
const quoted =
  /My name is Rani|Everything that is stored is in the file|The deployment \S+ is scaling up|I cannot look up the weather|Jakarta is the capital|^DEMO DO NOT PAY$/;

it('every page and state is accessible, fits its window, and violates no content security policy', async () => {
  const wrong: string[] = [];
  await using stack = new AsyncDisposableStack();
  // One for each reader, whose cache keeps styles and scripts.
  const windows = new Map<string, BrowserWindow>();
  const windowOf = async (reader: Reader) => {
    const known = windows.get(reader);
    if (known !== undefined) return known;
    const window = stack.use(await browser.open({ reducedMotion: 'reduce' }));
    const value = world.sessions[reader];
    if (value !== undefined) await window.page.context().addCookies([{ name: 'dp_session', value, url: world.url }]);
    windows.set(reader, window);
    return window;
  };
  for (const [index, { name, reader, path, shows, isMinor }] of screensOf(world).entries()) {
    const window = await windowOf(reader);
    const { page } = window;
    const both = looks.slice((index % 2) * 2, (index % 2) * 2 + 2);
    for (const [turn, look] of both.entries()) {
      const isShort = isMinor && caseFactor <= 1;
      if (isShort && turn !== Math.floor(index / 2) % 2) continue;
      const lines = await auditPage(window, world.url + path, {
        ...look,
        widths: isShort ? fewWidths : widths,
        prepare: () => page.locator(shows).first().waitFor({ state: 'attached' }),
      });
      wrong.push(
        ...lines.filter((line) => name !== 'not-found' || !line.includes('404')).map((line) => `${name} ${line}`),
      );
    }
  }
  expect(wrong).toEqual([]);
});

/** What is wider than its box, as an expression of the browser. */
const isCut = (selector: string) =>
  `[...document.querySelectorAll('${selector}')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`;

it('the name of the service and the samples of the page after a purchase are shown whole', async () => {
  const cut: unknown[] = [];
  const wanted = new Set(['landing', 'landing-signed-in', 'home', 'operator', 'done']);
  for (const { name, reader, path } of screensOf(world).filter((screen) => wanted.has(screen.name))) {
    await using window = await browser.open({ viewport: { width: 360, height: 740 }, locale: 'id-ID' });
    const { page } = window;
    const value = world.sessions[reader];
    if (value !== undefined) await page.context().addCookies([{ name: 'dp_session', value, url: world.url }]);
    await page.goto(world.url + path);
    cut.push(...((await page.evaluate(isCut('.logo span'))) as string[]).map((text) => `${name}: ${text}`));
    await page.setViewportSize({ width: 1280, height: 800 });
    if (name !== 'done') continue;
    for (const label of await page.locator('.tabbed label').all()) {
      await label.click();
      cut.push(...((await page.evaluate(isCut('.tabbed pre'))) as string[]));
    }
  }
  expect(cut).toEqual([]);
});

it('every page stays below its size limit on a first visit', async () => {
  const known = new Map<string, number>();
  const weights: (PageWeight & { name: string })[] = [];
  for (const { name, reader, path } of screensOf(world)) {
    const session = world.sessions[reader];
    const cookie = session === undefined ? undefined : `dp_session=${session}`;
    weights.push({ name, ...(await weighPage(world.url, path, cookie, known)) });
  }
  const line = ({ name, html, styles, scripts, total }: (typeof weights)[number]) =>
    `${name.padEnd(20)}${[html, styles, scripts, total].map((size) => (size / 1024).toFixed(1).padStart(8)).join('')}`;
  console.log(['KB compressed           HTML     CSS  script     all', ...weights.map(line)].join('\n'));
  const kilobyte = 1024;
  const heavy = weights.filter(
    ({ html, styles, total }) => html > 50 * kilobyte || styles > 10 * kilobyte || total > 100 * kilobyte,
  );
  expect(heavy.map(line)).toEqual([]);
});

it('pages in Indonesian have no English sentence, not even in their messages about problems', async () => {
  const english: string[] = [];
  const visit = async (path: string, reader: Reader) => {
    const client = new PageClient(world.url, { 'accept-language': 'id' });
    client.cookies.set('dp_session', world.sessions[reader] ?? '');
    const { text } = await client.get(path);
    english.push(...findEnglish(text, quoted).map((line) => `${path}: ${line}`));
    return text;
  };
  for (const { path, reader } of screensOf(world)) await visit(path, reader);
  await world.plantTrouble();
  const paths = ['/operator', '/operator/routes', '/operator/health', '/status'];
  const texts = (await Promise.all(paths.map((path) => visit(path, 'operator')))).join('\n');
  expect(texts).toMatch(/Koneksi ke upstream gagal/);
  expect(texts).toMatch(/Rute berikut tidak sesuai dengan yang dinyatakan/);
  expect(texts).toMatch(/ditolak, versi sebelumnya masih dipakai/);
  expect(english).toEqual([]);
});
