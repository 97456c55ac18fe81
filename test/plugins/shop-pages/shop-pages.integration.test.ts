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
  await expect(shop.gateway.reload()).rejects.toThrow(/terms\.md is not named like a page/);
  expect((await get('/terms')).text).toContain('Second text.');
});

it('a page that is still a draft is linked nowhere to others, also where gateway.yaml names it', async () => {
  const draft = '---\ndraft: true\n---\n# Draft';
  await using own = await startGateway({
    yaml: `${yamlFor('http://127.0.0.1:9')}service:
  base_url: https://ai.example.com
  terms: /terms?from=footer
  privacy: https://ai.example.com/privacy
operators: [ops@example.com]
sign_in: { google: { client_id: a, client_secret: b } }
payments: { provider: none }
pages: { folder: . }
`,
    files: { 'terms.en.md': draft, 'privacy.en.md': draft },
  });
  const linksOf = async (path: string) =>
    (await new PageClient(own.url).get(path)).text.match(/href="[^"]*\/(?:terms|privacy)\b[^"]*"/g) ?? [];
  expect(await Promise.all(['/', '/sign-in'].map(linksOf))).toEqual([[], []]);
  const publish = (name: string) => writeFile(join(own.folder, `${name}.en.md`), `# ${name}`);
  await Promise.all(['terms', 'privacy'].map(publish));
  expect(await own.gateway.reload()).toBe(true);
  const [terms, privacy] = ['href="/terms?from=footer"', 'href="https://ai.example.com/privacy"'];
  expect(await linksOf('/')).toEqual([terms, privacy]);
  expect(await linksOf('/sign-in')).toEqual([privacy, terms, privacy]);
});

it('unknown paths are not found, for people and programs', async () => {
  expect((await get('/no-such-page')).status).toBe(404);
  expect((await get('/no-such-page', { accept: 'application/json' })).status).toBe(404);
});

it('a plugin may have catch-all routes along with the pages of the shop: files come first, everything else is the plugin’s', async () => {
  const plugin = `export const plugin = {
    name: 'other-site',
    register(server) {
      for (const path of ['/{name}', '/{path*3}', '/{any*}'])
        server.route({ method: 'GET', path, handler: (request) => 'of the plugin: ' + request.path });
    },
  };`;
  await using beside = await startGateway({
    yaml: `${yamlFor('http://127.0.0.1:9')}plugins: [./other-site.ts]\npages: { folder: . }\n`,
    files: { 'other-site.ts': plugin, 'terms.en.md': '# Terms\nOf the shop.', 'refunds.en.md': '# Refunds' },
  });
  const read = async (path: string) => {
    const { status, location, text } = await new PageClient(beside.url).get(path);
    return [status, location || (/Of the shop|of the plugin: \S+/.exec(text)?.[0] ?? '')];
  };
  expect(await read('/terms?a=1')).toEqual([200, 'Of the shop']);
  expect(await read('/refund')).toEqual([303, '/refunds']);
  expect(await read('/about')).toEqual([200, 'of the plugin: /about']);
  expect(await read('/a/b/c/d')).toEqual([200, 'of the plugin: /a/b/c/d']);
  expect(await read('/-/pages/about')).toEqual([404, '']);
});
