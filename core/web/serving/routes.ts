import type { Request, ResponseObject, ResponseToolkit, RouteOptions, Server } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import { bounds } from '#core/platform/bounds.ts';
import { PageError } from '../pages/page-error.ts';
import { Download, FieldErrors, type Page, type PageForm, Redirect } from '../pages/page.ts';
import { livePath, ownPath } from '../pages/paths.ts';
import { formLifetimeSeconds, formTokenField, readFormToken, requireSameOrigin } from '../sessions/form-token.ts';
import type { Translator } from '../texts/translator.ts';
import { parseFields, readFields } from './form-input.ts';
import { getDefaultLayout, getDefaultStyles } from './layout.ts';
import type { Renderer } from './renderer.ts';
import { Visit } from './visit.ts';

const formTimeoutMs = 10_000;

const reroutedPrefix = '/-/pages'; // for pages that have a `has` method; no plugin uses it

export class PageRoutes {
  readonly #host: () => Host;
  readonly #renderer: Renderer;
  readonly #translator: Translator;
  readonly #conditionalPages: Page[] = [];
  readonly #originalPaths = new WeakMap<Request, string>(); // of requests that were rerouted

  constructor(host: () => Host, renderer: Renderer, translator: Translator) {
    this.#host = host;
    this.#renderer = renderer;
    this.#translator = translator;
  }

  add(server: Server, page: Page): void {
    server.route({
      method: 'GET',
      path: page.has === undefined ? page.path : reroutedPrefix + page.path,
      options: { auth: getAuthOptions(page) },
      handler: (request, h) => {
        if (page.has !== undefined && !this.#originalPaths.has(request)) throw new PageError(404, 'error.404.text');
        return this.#show(page, this.createVisit(request, h), h);
      },
    });
    if (page.has !== undefined) this.#conditionalPages.push(page);
    for (const form of page.forms ?? []) {
      server.route({
        method: 'POST',
        path: form.path ?? page.path,
        options: {
          auth: getAuthOptions(page),
          payload: {
            allow: 'application/x-www-form-urlencoded',
            maxBytes: bounds.formBody,
            timeout: formTimeoutMs,
          },
        },
        handler: (request, h) => this.#submit(page, form, request, h),
      });
    }
  }

  /** Reroutes a request to a page that has a `has` method. Such a page takes precedence over any plugin's route at that path. */
  reroute(request: Request): void {
    const [, name] = /^\/([^/]+)$/.exec(request.path) ?? [];
    if (name === undefined || !['get', 'head'].includes(request.method)) return;
    if (!this.#conditionalPages.some((page) => page.has?.(this.#host(), name))) return;
    this.#originalPaths.set(request, request.path);
    request.setUrl(`${reroutedPrefix}/${name}${request.url.search}`);
  }

  pathOf(request: Request): string {
    return this.#originalPaths.get(request) ?? request.path;
  }

  createVisit(request: Request, h: ResponseToolkit): Visit {
    return new Visit(request, h, this.#host(), this.#translator, this.pathOf(request));
  }

  async #show(page: Page, visit: Visit, h: ResponseToolkit, extraValues: object = {}): Promise<ResponseObject> {
    const result = await page.show(visit);
    if (result instanceof Redirect) return visit.isHtmx ? redirectHtmx(h, result.path) : redirectTo(h, result.path);
    if (result instanceof Download) return sendDownload(h, result);
    if (page.template === undefined) return h.response('').header('cache-control', 'no-store');
    const values: Readonly<Record<string, unknown>> = {
      ...(page.role === 'operator' && { done: describeDone(visit) }),
      ...result,
      ...extraValues,
    };
    const texts = values as Record<string, string | number>;
    const html = this.#renderer.render(visit, {
      title: visit.t(page.title, texts),
      ...(page.description !== undefined && { description: visit.t(page.description, texts) }),
      ...(page.note !== undefined && { note: visit.t(page.note, texts) }),
      layout: page.layout ?? getDefaultLayout(page.role),
      template: page.template,
      styles: page.styles ?? getDefaultStyles(page.role),
      scripts: page.scripts,
      live:
        page.live === undefined || values['isLive'] === false ? '' : livePath(resolvePath(page, visit)) + visit.search,
      values,
    });
    const isStorable = page.role === 'public' && page.isConfidential !== true;
    return setPageHeaders(h.response(html), visit, isStorable ? 'private, no-cache' : 'no-store');
  }

  async #submit(page: Page, form: PageForm, request: Request, h: ResponseToolkit): Promise<ResponseObject> {
    const visit = this.createVisit(request, h);
    const id = this.#requireOwnForm(page, visit, request);
    const fields = readFields(request.payload, form.fields);
    try {
      const input = parseFields(fields, form.fields);
      const result = await this.#submitOnce(page, form, visit, id, async () => form.submit(input, visit));
      if (result instanceof Redirect) return redirectTo(h, result.path);
      return await this.#show(page, visit, h, result ?? {});
    } catch (error) {
      if (!(error instanceof FieldErrors)) throw error;
      visit.form = { values: joinValues(fields), errors: this.#translateErrors(error, visit) };
      return (await this.#show(page, visit, h)).code(422);
    }
  }

  #requireOwnForm(page: Page, visit: Visit, request: Request): string {
    try {
      requireSameOrigin(request, visit.host);
      const token = (request.payload as Record<string, unknown> | null)?.[formTokenField];
      return readFormToken(token, visit.cookies.token, request.path, visit.host.now());
    } catch (error) {
      throw error instanceof PageError ? withReturnLink(error, page) : error;
    }
  }

  /** If the form cannot be processed, the claim is released, so that the sender can try again. */
  async #submitOnce<T>(page: Page, form: PageForm, visit: Visit, id: string, submit: () => Promise<T>): Promise<T> {
    if (form.once !== true) return submit();
    const { cache } = visit.host.shared;
    const key = `pages:form:${id}`;
    if (!(await cache.claim(key, visit.id, formLifetimeSeconds))) {
      throw withReturnLink(new PageError(409, 'form.repeated'), page);
    }
    try {
      return await submit();
    } catch (error) {
      await cache.release(key, visit.id).catch((failure: unknown) => {
        visit.host.log.error(`form ${id} cannot be sent again before it expires`, failure);
      });
      throw error;
    }
  }

  #translateErrors({ fields, values }: FieldErrors, visit: Visit): Record<string, string> {
    return Object.fromEntries(Object.entries(fields).map(([name, key]) => [name, visit.t(key, values)]));
  }
}

function describeDone({ query, t }: Pick<Visit, 'query' | 't'>): string {
  const key = `operator.did.${query['done'] ?? ''}`;
  const text = t(key);
  return text === key ? '' : t('operator.done_now', { action: text });
}

/** The page's path, even if the form was submitted to another one. */
function resolvePath({ path }: Page, { params }: Pick<Visit, 'params'>): string {
  return path.replace(/\{(\w+)[^}]*\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** Returns hapi's `auth` option. The mode `try` admits visitors; if the database is unavailable, it treats every reader as a visitor. */
export function getAuthOptions({ role }: Page): NonNullable<RouteOptions['auth']> {
  if (role === 'public') return { strategy: 'session', mode: 'try' };
  return { strategy: 'session', mode: 'required', access: { scope: [role] } };
}

/** Shared caches must not store pages, because they differ from visitor to visitor. */
export function setPageHeaders(response: ResponseObject, visit: Visit, cacheControl: string): ResponseObject {
  return response
    .type('text/html')
    .header('cache-control', cacheControl)
    .header('content-language', visit.language)
    .vary('Accept-Language')
    .vary('Cookie');
}

function redirectTo(h: ResponseToolkit, path: string): ResponseObject {
  return h.response().code(303).location(ownPath(path)).header('cache-control', 'no-store');
}

function sendDownload(h: ResponseToolkit, { fileName, type, body }: Download): ResponseObject {
  const disposition = `attachment; filename="${fileName.replaceAll(/[^\w.-]/g, '_')}"`;
  return h.response(body).type(type).header('content-disposition', disposition).header('cache-control', 'no-store');
}

/** htmx would follow a 303 within its request and insert the full page into a part. */
function redirectHtmx(h: ResponseToolkit, path: string): ResponseObject {
  return h.response('').header('hx-redirect', ownPath(path)).header('cache-control', 'no-store');
}

function withReturnLink({ status, text }: PageError, { path }: Page): PageError {
  const action = path.includes('{') ? undefined : { path, label: 'form.open_again' };
  return new PageError(status, text, action === undefined ? {} : { action });
}

function joinValues(fields: Readonly<Record<string, string | string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, [value].flat().join(', ')]));
}
