import { describe, expect, it } from 'vitest';
import { pageAt, pageHost, servePages, testTexts } from '../page-fixture.ts';

const atHome = 'http://localhost:8080';
const onTheWeb = 'https://ai.example/pass';

async function get(url: string, baseUrl: string) {
  const service = { name: 'Kelas <AI>', prefix: 'dp', slug: 'kelas', baseUrl, contact: undefined };
  const server = await servePages(pageHost({ service }), ({ gateway }) => {
    gateway.texts(testTexts);
    gateway.page(pageAt('/', { description: 'test.title' }));
    gateway.page(pageAt('/quiet'));
    gateway.page(pageAt('/at/{id}', { description: 'test.title' }));
    gateway.page(pageAt('/dashboard', { role: 'account', description: 'test.title' }));
    gateway.page(pageAt('/operator/orders', { role: 'operator' }));
  });
  return server.inject({ url, headers: { accept: 'text/html' } });
}

it('the manifest has the name of the service, and icons that exist', async () => {
  const { headers, payload } = await get('/manifest.webmanifest', atHome);
  expect(headers['content-type']).toContain('application/manifest+json');
  const manifest = JSON.parse(payload) as { icons: { src: string }[] };
  expect(manifest).toMatchObject({ name: 'Kelas <AI>', start_url: '/dashboard', display: 'standalone' });
  const icons = await Promise.all(manifest.icons.map(({ src }) => get(src, atHome)));
  expect(icons.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
});

describe('search engines', () => {
  it('are sent away from a gateway that only its own machine reaches', async () => {
    expect((await get('/robots.txt', atHome)).payload).toBe('User-agent: *\nDisallow: /\n');
    expect((await get('/sitemap.xml', atHome)).payload).not.toContain('<url>');
  });

  it('are kept from pages of accounts and of the operator', async () => {
    const { payload } = await get('/robots.txt', onTheWeb);
    for (const path of ['/dashboard', '/operator', '/account', '/v1']) expect(payload).toContain(`Disallow: ${path}\n`);
    expect(payload).toContain('Sitemap: https://ai.example/pass/sitemap.xml');
    expect(payload).not.toMatch(/Disallow: \/\n/);
  });

  it('find the public pages that say what they are about', async () => {
    const { payload } = await get('/sitemap.xml', onTheWeb);
    expect([...payload.matchAll(/<loc>(.*?)</g)].map(([, url]) => url)).toEqual(['https://ai.example/pass/']);
  });

  it.each([
    ['/', false],
    ['/quiet', true],
    ['/nothing', true],
  ])('read at %s that it is not to be listed: %s', async (url, isHidden) => {
    expect((await get(url, onTheWeb)).payload.includes('content="noindex"')).toBe(isHidden);
  });
});

it.each([
  [onTheWeb, true],
  [atHome, false],
])('a link preview at %s has a picture: %s', async (baseUrl, hasPicture) => {
  const { payload } = await get('/', baseUrl);
  expect(payload).toContain('<meta property="og:site_name" content="Kelas &lt;AI&gt;">');
  const picture = /og:image" content="https:\/\/ai\.example\/pass\/assets\/[\w-]{12}\/preview\.png"/;
  expect([picture.test(payload), payload.includes('rel="canonical"')]).toEqual([hasPicture, hasPicture]);
});
