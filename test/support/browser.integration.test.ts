import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, narrow, sidewaysOverflow, type TestBrowser } from './browser.ts';

let browser: TestBrowser;
let server: Server;
let url: string;
let html = '';

beforeAll(async () => {
  server = createServer((_request, response) => {
    response.setHeader('content-security-policy', "default-src 'self'; script-src 'self'");
    response
      .setHeader('content-type', 'text/html')
      .end(`<!doctype html><title>x</title><link rel=icon href="data:,">${html}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  server.close();
});

describe('the test browser', () => {
  it('shows a page', async () => {
    await using window = await browser.open();
    html = '<h1>Hello</h1>';
    await window.page.goto(url);
    expect(await window.page.textContent('h1')).toBe('Hello');
  });

  it('reports what violates the content security policy', async () => {
    await using window = await browser.open();
    html = '<script>document.title = "inline"</script>';
    await window.page.goto(url);
    await expect.poll(() => window.complaints.join()).toContain('Content Security Policy');
    expect(await window.page.title()).toBe('x');
  });

  it('reports elements wider than a phone', async () => {
    await using window = await browser.open(narrow);
    html = '<svg width="500" height="1"></svg>';
    await window.page.goto(url);
    expect(await sidewaysOverflow(window.page)).toBeGreaterThan(100);
  });

  it('renders text with an installed font', async () => {
    await using window = await browser.open();
    html = '<span>iiii</span><br><b>WWWW</b>';
    await window.page.goto(url);
    const width = async (tag: string) => (await window.page.locator(tag).boundingBox())?.width ?? 0;
    expect(await width('b')).toBeGreaterThan((await width('span')) * 1.5);
  });
});
