import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';

let shop: TestGateway;

beforeAll(async () => {
  shop = await startGateway({ yaml: yamlFor('http://127.0.0.1:9') });
});
afterAll(async () => shop?.[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) => new PageClient(shop.url).get(path, headers);

it('a new page and an edit show after a reload, and a mistake keeps the page', async () => {
  const folder = join(shop.folder, 'pages');
  expect((await get('/terms')).status).toBe(404);
  await mkdir(folder);
  await writeFile(join(folder, 'terms.en.md'), '# Terms\nFirst text.');
  expect(await shop.gateway.reload()).toBe(true);
  const first = await get('/terms');
  expect([first.status, first.text.includes('First text.')]).toEqual([200, true]);
  expect((await get('/')).text).toContain('<a href="/terms">Terms</a>');
  expect(Buffer.byteLength(first.text)).toBeLessThan(10_240);
  await writeFile(join(folder, 'terms.en.md'), '# Terms\nSecond text.');
  expect((await get('/terms')).text).toContain('First text.');
  expect(await shop.gateway.reload()).toBe(true);
  expect(await shop.gateway.reload()).toBe(false);
  expect((await get('/terms')).text).toContain('Second text.');
  await writeFile(join(folder, 'terms.md'), 'x');
  await expect(shop.gateway.reload()).rejects.toThrow(/terms\.md has no name of a page/);
  expect((await get('/terms')).text).toContain('Second text.');
});

it('unknown paths are not found, for people and programs', async () => {
  expect((await get('/no-such-page')).status).toBe(404);
  expect((await get('/no-such-page', { accept: 'application/json' })).status).toBe(404);
});
