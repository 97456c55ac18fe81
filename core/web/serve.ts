import type { Lifecycle, Request, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { setPageRewriter } from '#core/gateway/http/rewritten-pages.ts';
import { LineThrottle } from '#core/platform/timing/throttle.ts';
import { routeLivePages } from './live/live-route.ts';
import type { ReadSiteLinks } from './markdown/site-links.ts';
import { isHtmx } from './pages/htmx.ts';
import { PageError } from './pages/page-error.ts';
import type { AssetSource, Page } from './pages/page.ts';
import { AssetTable, routeAssets } from './serving/assets.ts';
import { renderErrorJson, renderErrorPage, toPageError, wantsPage } from './serving/error-page.ts';
import { accountPage, ownAssets, ownTexts, preferencesPage, coreTexts } from './serving/own-parts.ts';
import { checkPage, Renderer } from './serving/renderer.ts';
import { PageRoutes } from './serving/routes.ts';
import { createSecurityHeaders } from './serving/security-headers.ts';
import { routeSiteFiles } from './serving/site-files.ts';
import { removeEndedSessions, logUnavailable, signInPath } from './sessions/sign-in.ts';
import type { Texts } from './texts/texts.ts';
import { Translator } from './texts/translator.ts';

const reminderIntervalMs = 60_000; // between two log lines about the same failure of a page

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
  for (const texts of [ownTexts, ...coreTexts]) registry.texts(texts);
  for (const source of ownAssets) registry.assets(source);
  registry.page(preferencesPage);
  registry.page(accountPage);
  registry.job(removeEndedSessions);
}

/** @throws Error naming the page, text or asset that cannot work */
export async function loadPages(registry: PageRegistry): Promise<{ translator: Translator; assets: AssetTable }> {
  const translator = new Translator(registry.pageTexts);
  const assets = await AssetTable.load(registry.assetSources.values());
  for (const page of registry.pages) await checkPage(page, translator, assets);
  return { translator, assets };
}

/** Routes the registered pages, forms and assets, and gives all hapi routes error pages. */
export async function routePages(server: Server, registry: PageRegistry, host: () => Host): Promise<void> {
  const { translator, assets } = await loadPages(registry);
  const renderer = new Renderer(registry.pages, assets, registry.siteLinksReader);
  const routes = new PageRoutes(host, renderer, translator);
  const failureLog = new LineThrottle(reminderIntervalMs);
  const confidential = new Set(registry.pages.filter((page) => page.isConfidential).map(({ path }) => path));
  routeAssets(server, assets);
  routeSiteFiles(server, registry.pages, assets, host);
  for (const page of registry.pages) routes.add(server, page);
  setPageRewriter(server, (request) => routes.reroute(request));
  routeLivePages(server, registry.pages, { host, renderer, assets, translator });
  server.ext('onPreResponse', async (request, h): Promise<Lifecycle.ReturnValue> => {
    const { response } = request;
    const isError = response instanceof Error;
    const rendered = isError ? await respondToError(response, request, h) : response;
    const kind = { isPage: isHtml(rendered), isConfidential: confidential.has(request.route.path) };
    for (const [name, value] of Object.entries(createSecurityHeaders(request, host(), kind)))
      rendered.header(name, value);
    rendered.header('x-request-id', request.info.id);
    return isError ? rendered : h.continue;
  });

  /** Adds a sign-in button to the error page for a form that was submitted after the session had ended. */
  function withSignIn(error: PageError): PageError {
    if (error.status !== 401 || !renderer.has(signInPath)) return error;
    return new PageError(401, error.text, { action: { path: signInPath, label: 'layout.sign_in' } });
  }

  function logServerError({ route }: Request, summary: string, cause: unknown): void {
    const suppressedNote = failureLog.admit(route.path, cause);
    if (suppressedNote !== undefined) host().log.error(summary + suppressedNote, cause);
  }

  async function respondToError(thrown: Error, request: Request, h: ResponseToolkit): Promise<ResponseObject> {
    const error = toPageError(thrown);
    const path = routes.pathOf(request);
    const summary = `${path} failed, request ${request.info.id}`;
    if (error.status === 503) logUnavailable(host(), summary, error.details.cause ?? error);
    else if (error.status >= 500) logServerError(request, summary, error.details.cause ?? error);
    if (!wantsPage(request)) return renderErrorJson(error, { request, path }, h, translator);
    if (error.status === 401 && request.method === 'get' && renderer.has(signInPath)) {
      // htmx asked for part of a page. Reloading the full page instead leads to the sign-in page.
      if (isHtmx(request)) return h.response('').header('hx-refresh', 'true').header('cache-control', 'no-store');
      const next = encodeURIComponent(request.url.pathname + request.url.search);
      return h.redirect(`${signInPath}?next=${next}`).header('cache-control', 'no-store');
    }
    if (error.status === 404) await restoreSession(request);
    return renderErrorPage(withSignIn(error), routes.createVisit(request, h), h, {
      renderer,
      translator,
      log: host().log,
    });
  }
}

/** Authenticates a request for an unknown path, so that its error page does not ask a signed-in reader to sign in. */
async function restoreSession(request: Request): Promise<void> {
  if (request.auth.isAuthenticated) return;
  const session = await request.server.auth.test('session', request).catch(() => undefined);
  if (session !== undefined)
    Object.assign(request.auth, { isAuthenticated: true, credentials: session.credentials } satisfies Partial<
      Request['auth']
    >);
}

function isHtml(response: ResponseObject & { readonly contentType?: string | null }): boolean {
  return response.contentType?.startsWith('text/html') === true; // hapi's getter, because the header is not set yet
}
