/**
 * `npm run screenshots`: takes every page of a gateway with sample data at 360 and 1280 px, in light and dark, and on a phone in
 * Indonesian, as WebP into docs/screenshots.
 *
 *     npm run screenshots -- --only home,requests      only these pages
 *     npm run screenshots -- --to /tmp/shots           another folder
 *     npm run screenshots -- --all                     every page in every way, states too
 */
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { type BrowserWindow, launchBrowser } from '../support/browser.ts';
import { execute, startPostgres, withDatabase } from '../support/global-postgres.ts';
import { type Screen, screensOf } from './pages.ts';
import { openScreenWorld, type ScreenWorld } from './world.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    to: { type: 'string', default: 'docs/screenshots' },
    all: { type: 'boolean', default: false },
  },
});
const folder = resolve(values.to);
const views = [
  { suffix: '1280-light', width: 1280, theme: 'light', language: 'en' },
  { suffix: '1280-dark', width: 1280, theme: 'dark', language: 'en' },
  { suffix: '360-light', width: 360, theme: 'light', language: 'en' },
  { suffix: '360-dark', width: 360, theme: 'dark', language: 'en' },
  { suffix: '360-id', width: 360, theme: 'light', language: 'id' },
] as const;
/** Px of a page that are shown; what is longer goes on alike. */
const longest = 900;
/** Minor pages get each width and each theme once: the pictures are part of the repository. */
const viewsOfMinor = new Set<string>(['1280-dark', '360-light']);
/** WebP quality at which text stays readable. */
const quality = 25;

await using postgres = await startPostgres();
await execute(postgres.url, `CREATE DATABASE daypass_screens TEMPLATE ${postgres.templateDatabase}`);
{
  await using world = await openScreenWorld(withDatabase(postgres.url, 'daypass_screens'), 90);
  await using browser = await launchBrowser();
  await mkdir(folder, { recursive: true });
  const wanted = values.only === '' ? [] : values.only.split(',');
  const screens = screensOf(world).filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  for (const view of views) {
    for (const screen of screens.filter((one) => viewsOf(one).includes(view))) {
      await using window = await browser.open({
        viewport: { width: view.width, height: 800 },
        colorScheme: view.theme,
        locale: view.language === 'id' ? 'id-ID' : 'en-GB',
        timezoneId: 'Asia/Jakarta',
        reducedMotion: 'reduce',
        hasTouch: view.width < 600,
      });
      await take(window, world, screen, view);
    }
  }
  if (wanted.length === 0) await removeOthers(screens);
}
await execute(postgres.url, 'DROP DATABASE daypass_screens WITH (FORCE)');
const files = await readdir(folder);
const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
console.log(
  `${files.length} screenshots, ${Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1000)} kB in ${folder}`,
);

async function take(
  { page, complaints }: BrowserWindow,
  world: ScreenWorld,
  screen: Screen,
  view: (typeof views)[number],
): Promise<void> {
  const session = world.sessions[screen.reader];
  const zone = { name: 'dp_zone', value: 'Asia/Jakarta', url: world.url };
  await page
    .context()
    .addCookies(session === undefined ? [zone] : [zone, { name: 'dp_session', value: session, url: world.url }]);
  await page.goto(world.url + screen.path);
  await page.locator(screen.shows).first().waitFor();
  await page.evaluate('document.fonts.ready');
  await page.waitForTimeout(300);
  for (const line of complaints.filter((complaint) => !complaint.includes('404')))
    console.error(`${screen.name}: ${line}`);
  await writeFile(join(folder, `${screen.name}-${view.suffix}.webp`), await capture(page));
}

/** Playwright knows PNG and JPEG; WebP is half as large. */
async function capture(page: Page): Promise<Buffer> {
  const size = (await page.evaluate(
    '({ width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight })',
  )) as { width: number; height: number };
  const height = Math.min(size.height, longest);
  // Bars at the bottom of phones belong at the bottom of the picture.
  await page.setViewportSize({ width: size.width, height });
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
  return Buffer.from(data, 'base64');
}

function viewsOf({ isMinor }: Screen) {
  return values.all || !isMinor ? views : views.filter(({ suffix }) => viewsOfMinor.has(suffix));
}

/** Pictures that are no longer taken. */
async function removeOthers(screens: readonly Screen[]): Promise<void> {
  const taken = screens.flatMap((screen) => viewsOf(screen).map(({ suffix }) => `${screen.name}-${suffix}.webp`));
  const known = new Set(taken);
  for (const file of await readdir(folder)) if (!known.has(file)) await rm(join(folder, file));
}
