import type { Server } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';
import type { Page } from '../pages/page.ts';
import { wellKnownPaths } from '../pages/paths.ts';
import type { AssetTable } from './assets.ts';

export const themeColors = { light: '#ffffff', dark: '#121b1d' } as const; // of the header; must match style.css and dark.css

/** Returns the public URL; '' if the gateway is on a loopback address, which search engines must not index. */
export function getPublicOrigin({ service }: Pick<Host, 'service'>): string {
  const host = URL.parse(service.baseUrl)?.hostname.replace(/^\[|\]$/g, '');
  return host === undefined || isLoopback(host) ? '' : service.baseUrl;
}

function isIndexed({ role, description }: Page): boolean {
  return role === 'public' && description !== undefined;
}

function listPaths(page: Page, host: Host): readonly string[] {
  return page.path.includes('{') ? (page.paths?.(host) ?? []) : [page.path];
}

export function routeSiteFiles(server: Server, pages: readonly Page[], assets: AssetTable, host: () => Host): void {
  const add = (path: string, type: string, write: () => string) =>
    server.route({
      method: 'GET',
      path,
      options: { auth: false, state: { parse: false } },
      handler: (_request, h) => h.response(write()).type(type).header('cache-control', 'public, max-age=3600'),
    });
  add('/manifest.webmanifest', 'application/manifest+json', () =>
    JSON.stringify(createManifest(host(), pages, assets)),
  );
  add('/robots.txt', 'text/plain', () => renderRobots(host(), pages));
  add('/sitemap.xml', 'application/xml', () => renderSitemap(host(), pages));
}

function createManifest({ service }: Host, pages: readonly Page[], assets: AssetTable) {
  const icon = (name: string, sizes: string, type: string) => ({ src: assets.url(name), sizes, type });
  const hasDashboard = pages.some(({ path }) => path === wellKnownPaths.dashboard);
  return {
    name: service.name,
    short_name: service.name,
    id: '/',
    start_url: hasDashboard ? wellKnownPaths.dashboard : '/',
    display: 'standalone',
    background_color: '#f8fafb',
    theme_color: themeColors.light,
    icons: [
      icon('icon.svg', 'any', 'image/svg+xml'),
      icon('icon-192.png', '192x192', 'image/png'),
      icon('icon-512.png', '512x512', 'image/png'),
    ],
  };
}

function renderRobots(host: Host, pages: readonly Page[]): string {
  const origin = getPublicOrigin(host);
  if (origin === '') return 'User-agent: *\nDisallow: /\n';
  const privatePaths = pages.filter(({ role }) => role !== 'public').map(({ path }) => `/${path.split('/')[1] ?? ''}`);
  const lines = [...new Set(['/v1', '/v1beta', ...privatePaths])].map((path) => `Disallow: ${path}`);
  return ['User-agent: *', ...lines.toSorted(), `Sitemap: ${origin}/sitemap.xml`, ''].join('\n');
}

function renderSitemap(host: Host, pages: readonly Page[]): string {
  const origin = getPublicOrigin(host);
  const paths = origin === '' ? [] : pages.filter(isIndexed).flatMap((page) => listPaths(page, host));
  const urls = paths.map((path) => `<url><loc>${escapeXml(origin + path)}</loc></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
