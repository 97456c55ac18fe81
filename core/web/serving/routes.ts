import type { Request, ResponseObject, ResponseToolkit, RouteOptions, Server } from '@hapi/hapi';
import { bounds } from '#core/platform/bounds.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { livePath, ownPath } from '../pages/paths.ts';
import { formLifetime, formTokenField, readFormToken, requireSameOrigin } from '../sessions/form-token.ts';
import { parseFields, readFields } from './form-input.ts';
import { Download, FieldErrors, type Page, type PageForm, Redirect } from '../pages/page.ts';
import { defaultLayout, defaultStyles } from './layout.ts';
import { PageError } from '../pages/page-error.ts';
import type { Renderer } from './renderer.ts';
import type { Translator } from '../texts/translator.ts';
import { Visit } from './visit.ts';

const formTimeoutMs = 10_000;

/** Path prefix for the routes of pages with `has`; no plugin uses it. */
const namedPath = '/-/pages';

/** Registers the hapi routes of a page and its forms. */
export class PageRoutes {
  readonly #host: () => Host;
  readonly #renderer: Renderer;
  readonly #translator: Translator;
  readonly #named: Page[] = [];
  /** Originally requested paths of rerouted requests. */
  readonly #led = new WeakMap<Request, string>();

  constructor(host: () => Host, renderer: Renderer, translator: Translator) {
    this.#host = host;
    this.#renderer = renderer;
    this.#translator = translator;
  }

  add(server: Server, page: Page): void {
    server.route({
      method: 'GET',
      path: page.has === undefined ? page.path : namedPath + page.path,
      options: { auth: authFor(page) },
      handler: (request, h) => {
        if (page.has !== undefined && !this.#led.has(request)) throw new PageError(404, 'error.404.text');
        return this.#show(page, this.visit(request, h), h);
      },
    });
    if (page.has !== undefined) this.#named.push(page);
    for (const form of page.forms ?? []) {
      server.route({
        method: 'POST',
        path: form.path ?? page.path,
        options: {
          auth: authFor(page),
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

  /** Reroutes a request for a page that depends on the configuration, ahead of any plugin route at that path. */
  lead(request: Request): void {
    const [, name] = /^\/([^/]+)$/.exec(request.path) ?? [];
    if (name === undefined || !['get', 'head'].includes(request.method)) return;
    if (!this.#named.some((page) => page.has?.(this.#host(), name))) return;
    this.#led.set(request, request.path);
    request.setUrl(`${namedPath}/${name}${request.url.search}`);
  }

  /** Path that the client requested. */
  pathOf(request: Request): string {
    return this.#led.get(request) ?? request.path;
  }

  visit(request: Request, h: ResponseToolkit): Visit {
    return new Visit(request, h, this.#host(), this.#translator, this.pathOf(request));
  }

  async #show(page: Page, visit: Visit, h: ResponseToolkit, more: object = {}): Promise<ResponseObject> {
    const shown = await page.show(visit);
    if (shown instanceof Redirect) return visit.isHtmx ? reload(h, shown.path) : redirect(h, shown.path);
    if (shown instanceof Download) return send(h, shown);
    if (page.template === undefined) return h.response('').header('cache-control', 'no-store');
    const values: Readonly<Record<string, unknown>> = {
      ...(page.role === 'operator' && { done: describeDone(visit) }),
      ...shown,
      ...more,
    };
    const texts = values as Record<string, string | number>;
    const html = this.#renderer.render(visit, {
      title: visit.t(page.title, texts),
      ...(page.description !== undefined && { description: visit.t(page.description, texts) }),
      ...(page.note !== undefined && { note: visit.t(page.note, texts) }),
      layout: page.layout ?? defaultLayout(page.role),
      template: page.template,
      styles: page.styles ?? defaultStyles(page.role),
      scripts: page.scripts,
      live:
        page.live === undefined || values['isLive'] === false ? '' : livePath(addressOf(page, visit)) + visit.search,
      values,
    });
    const isStorable = page.role === 'public' && page.isConfidential !== true;
    return asPage(h.response(html), visit, isStorable ? 'private, no-cache' : 'no-store');
  }

  async #submit(page: Page, form: PageForm, request: Request, h: ResponseToolkit): Promise<ResponseObject> {
    const visit = this.visit(request, h);
    const id = this.#requireOwnForm(page, visit, request);
    const fields = readFields(request.payload, form.fields);
    try {
      const input = parseFields(fields, form.fields);
      const result = await this.#once(page, form, visit, id, async () => form.submit(input, visit));
      if (result instanceof Redirect) return redirect(h, result.path);
      return await this.#show(page, visit, h, result ?? {});
    } catch (error) {
      if (!(error instanceof FieldErrors)) throw error;
      visit.form = { values: textsOf(fields), errors: this.#explain(error, visit) };
      return (await this.#show(page, visit, h)).code(422);
    }
  }

  #requireOwnForm(page: Page, visit: Visit, request: Request): string {
    try {
      requireSameOrigin(request, visit.host);
      const token = (request.payload as Record<string, unknown> | null)?.[formTokenField];
      return readFormToken(token, visit.cookies.token, request.path, visit.host.now());
    } catch (error) {
      throw error instanceof PageError ? withWayBack(error, page) : error;
    }
  }

  /** Claims the form before it is processed, and releases the claim on failure so that the sender can retry. */
  async #once<T>(page: Page, form: PageForm, visit: Visit, id: string, submit: () => Promise<T>): Promise<T> {
    if (form.once !== true) return submit();
    const { cache } = visit.host.shared;
    const key = `pages:form:${id}`;
    if (!(await cache.claim(key, visit.id, formLifetime))) {
      throw withWayBack(new PageError(409, 'form.repeated'), page);
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

  #explain({ fields, values }: FieldErrors, visit: Visit): Record<string, string> {
    return Object.fromEntries(Object.entries(fields).map(([name, key]) => [name, visit.t(key, values)]));
  }
}

/** Confirmation on the page shown after an operator's action; '' without one. */
function describeDone({ query, t }: Pick<Visit, 'query' | 't'>): string {
  const key = `operator.did.${query['done'] ?? ''}`;
  const text = t(key);
  return text === key ? '' : t('operator.done_now', { action: text });
}

/** URL of the page, even if the form was submitted to another path. */
function addressOf({ path }: Page, { params }: Pick<Visit, 'params'>): string {
  return path.replace(/\{(\w+)[^}]*\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** The mode `try` admits visitors; while the database is unavailable, it treats every reader as a visitor. */
export function authFor({ role }: Page): NonNullable<RouteOptions['auth']> {
  if (role === 'public') return { strategy: 'session', mode: 'try' };
  return { strategy: 'session', mode: 'required', access: { scope: [role] } };
}

/** Pages differ per visitor, so caches between gateway and browser must not store them. */
export function asPage(response: ResponseObject, visit: Visit, cacheControl: string): ResponseObject {
  return response
    .type('text/html')
    .header('cache-control', cacheControl)
    .header('content-language', visit.language)
    .vary('Accept-Language')
    .vary('Cookie');
}

function redirect(h: ResponseToolkit, path: string): ResponseObject {
  return h.response().code(303).location(ownPath(path)).header('cache-control', 'no-store');
}

function send(h: ResponseToolkit, { fileName, type, body }: Download): ResponseObject {
  const disposition = `attachment; filename="${fileName.replaceAll(/[^\w.-]/g, '_')}"`;
  return h.response(body).type(type).header('content-disposition', disposition).header('cache-control', 'no-store');
}

/** htmx would follow a redirect within its request and insert the whole page into a part. */
function reload(h: ResponseToolkit, path: string): ResponseObject {
  return h.response('').header('hx-redirect', ownPath(path)).header('cache-control', 'no-store');
}

function withWayBack({ status, text }: PageError, { path }: Page): PageError {
  const action = path.includes('{') ? undefined : { path, label: 'form.open_again' };
  return new PageError(status, text, action === undefined ? {} : { action });
}

function textsOf(fields: Readonly<Record<string, string | string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, [value].flat().join(', ')]));
}
