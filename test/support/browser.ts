import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { unpackChromium } from './chromium.ts';

const pageTimeoutMs = 20_000; // the machine may be busy

export interface TestBrowser extends AsyncDisposable {
  /** Opens a window without cookies, with 1280 by 800 pixels unless `viewport` sets another size. */
  open(options?: BrowserContextOptions): Promise<BrowserWindow>;
}

export interface BrowserWindow extends AsyncDisposable {
  readonly page: Page;
  readonly complaints: readonly string[]; // so far: violations of the content security policy, script errors, missing files
}

/** A phone as narrow as the design allows, without the emulation that hides sideways scrolling. */
export const narrow: BrowserContextOptions = { viewport: { width: 360, height: 740 }, hasTouch: true };

/** Takes a few seconds, or ten the first time on a machine. */
export async function launchBrowser(): Promise<TestBrowser> {
  const { executable, environment } = await unpackChromium();
  const browser = await chromium.launch({
    executablePath: executable,
    env: { ...process.env, ...environment } as Record<string, string>,
    args: ['--disable-gpu', '--no-zygote'],
    timeout: 60_000,
  });
  return {
    open: (options) => openWindow(browser, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function openWindow(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserWindow> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
  context.setDefaultTimeout(pageTimeoutMs);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

export async function sidewaysOverflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = (globalThis as unknown as { document: DocumentLike }).document.documentElement;
    return scrollWidth - clientWidth;
  });
}

/** The DOM's types are not loaded for server code. */
interface DocumentLike {
  readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number };
}
