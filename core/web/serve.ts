import type { Lifecycle, Request, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import { rewritePages } from '#core/gateway/http/rewritten-pages.ts';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { LineThrottle } from '#core/platform/timing/throttle.ts';
import { AssetTable, routeAssets } from './serving/assets.ts';
import { accountPage, ownAssets, ownTexts, preferencesPage, reasonTexts } from './serving/own-parts.ts';
import { isHtmx } from './pages/htmx.ts';
import { errorAsJson, errorAsPage, toPageError, wantsPage } from './serving/error-page.ts';
import { routeLivePages } from './live/live-route.ts';
import { removeEndedSessions, noteUnavailable, signInPath } from './sessions/sign-in.ts';
import type { AssetSource, Page } from './pages/page.ts';
import type { ReadSiteLinks } from './markdown/site-links.ts';
import { PageError } from './pages/page-error.ts';
import { checkPage, Renderer } from './serving/renderer.ts';
import { PageRoutes } from './serving/routes.ts';
import { routeSiteFiles } from './serving/site-files.ts';
import { securityHeaders } from './serving/security-headers.ts';
import type { Texts } from './texts/texts.ts';
import { Translator } from './texts/translator.ts';

const reminderIntervalMs = 60_000; // per failure of a page

interface PageRegistry {
  readonly pages: readonly Page[];
  readonly assetSources: ReadonlyMap<string, AssetSource>;
  readonly pageTexts: readonly Texts[];
  readonly siteLinksReader: ReadSiteLinks | undefined;
  page(page: Page): void;
  assets(source: AssetSource): void;
  texts(texts: Texts): void;
  job(job: JobDefinition): void;
}

export function registerOwnPages(registry: PageRegistry): void {
  for (const texts of [ownTexts, ...reasonTexts]) registry.texts(texts);
  for (const source of ownAssets) registry.assets(source);
  registry.page(preferencesPage);
  registry.page(accountPage);
  registry.job(removeEndedSessions);
}

/**
 * Reads texts and assets, and checks every page against them.
 *
 * @throws Error naming the page, text or asset that cannot work
 */
export async function loadPages(registry: PageRegistry): Promise<{ translator: Translator; assets: AssetTable }> {
  const translator = new Translator(registry.pageTexts);
  const assets = await AssetTable.load(registry.assetSources.values());
  for (const page of registry.pages) await checkPage(page, translator, assets);
  return { translator, assets };
}

/** Serves registered pages, forms and assets, and error pages for all hapi routes. */
export async function routePages(server: Server, registry: PageRegistry, host: () => Host): Promise<void> {
  const { translator, assets } = await loadPages(registry);
  const renderer = new Renderer(registry.pages, assets, registry.siteLinksReader);
  const routes = new PageRoutes(host, renderer, translator);
  const lines = new LineThrottle(reminderIntervalMs);
  const confidential = new Set(registry.pages.filter((page) => page.isConfidential).map(({ path }) => path));
  routeAssets(server, assets);
  routeSiteFiles(server, registry.pages, assets, host);
  for (const page of registry.pages) routes.add(server, page);
  rewritePages(server, (request) => routes.lead(request));
  routeLivePages(server, registry.pages, { host, renderer, assets, translator });
  server.ext('onPreResponse', async (request, h): Promise<Lifecycle.ReturnValue> => {
    const { response } = request;
    const isError = response instanceof Error;
    const answer = isError ? await answerError(response, request, h) : response;
    const kind = { isPage: isHtml(answer), isConfidential: confidential.has(request.route.path) };
    for (const [name, value] of Object.entries(securityHeaders(request, host(), kind))) answer.header(name, value);
    answer.header('x-request-id', request.info.id);
    return isError ? answer : h.continue;
  });

  /** For a form submitted after the session ended: the button leads to the sign-in. */
  function withSignIn(error: PageError): PageError {
    if (error.status !== 401 || !renderer.has(signInPath)) return error;
    return new PageError(401, error.text, { action: { path: signInPath, label: 'layout.sign_in' } });
  }

  function logFailure({ route }: Request, failed: string, cause: unknown): void {
    const more = lines.pass(route.path, cause);
    if (more !== undefined) host().log.error(failed + more, cause);
  }

  async function answerError(thrown: Error, request: Request, h: ResponseToolkit): Promise<ResponseObject> {
    const error = toPageError(thrown);
    const path = routes.pathOf(request);
    const failed = `${path} failed, request ${request.info.id}`;
    if (error.status === 503) noteUnavailable(host(), failed, error.details.cause ?? error);
    else if (error.status >= 500) logFailure(request, failed, error.details.cause ?? error);
    if (!wantsPage(request)) return errorAsJson(error, { request, path }, h, translator);
    if (error.status === 401 && request.method === 'get' && renderer.has(signInPath)) {
      // htmx asked for a part of a page: the whole page is reloaded, which leads to the sign-in.
      if (isHtmx(request)) return h.response('').header('hx-refresh', 'true').header('cache-control', 'no-store');
      const next = encodeURIComponent(request.url.pathname + request.url.search);
      return h.redirect(`${signInPath}?next=${next}`).header('cache-control', 'no-store');
    }
    if (error.status === 404) await recogniseReader(request);
    return errorAsPage(withSignIn(error), routes.visit(request, h), h, { renderer, translator, log: host().log });
  }
}

/** Reads the session for unknown addresses, so that a signed-in reader is not offered to sign in. */
async function recogniseReader(request: Request): Promise<void> {
  if (request.auth.isAuthenticated) return;
  const session = await request.server.auth.test('session', request).catch(() => undefined);
  if (session !== undefined) Object.assign(request.auth, { isAuthenticated: true, credentials: session.credentials });
}

/** hapi sets the `content-type` header later; the getter already knows it. */
function isHtml(response: ResponseObject & { readonly contentType?: string | null }): boolean {
  return response.contentType?.startsWith('text/html') === true;
}
