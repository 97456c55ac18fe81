import { type Server, server as createHapi } from '@hapi/hapi';
import { listen } from '#core/config/sections/core-sections.ts';
import { operatorsSection } from '#core/config/sections/operators-section.ts';
import { Keeper } from '#core/extension/keeper.ts';
import { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import type { Page } from '#core/web/pages/page.ts';
import { registerOwnPages, routePages } from '#core/web/serve.ts';
import { addSessionStrategy } from '#core/web/sessions/sign-in.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { silentLog } from '../../support/database.ts';

/** A hapi server with the floor for pages and what `register` adds, as a gateway has it; it does not listen. */
export async function servePages(host: Host, register: (server: Server) => unknown): Promise<Server> {
  const registry = new Registry();
  const server = createHapi({ debug: false, routes: { state: { parse: true, failAction: 'ignore' } } });
  server.decorate('server', 'gateway', registry as never);
  server.decorate('server', 'host', (() => host) as never);
  registerOwnPages(registry);
  addSessionStrategy(server, () => host);
  await register(server);
  await routePages(server, registry, () => host);
  return server;
}

/** A host that pages can be served with. */
export function pageHost(settings: Partial<Host> & { operators?: readonly string[] } = {}): Host {
  const { operators = [], service, ...others } = settings;
  const keeper = new Keeper();
  // Requests of tests come from there.
  const proxies = ['127.0.0.1'];
  const host: Partial<Host> = {
    log: silentLog,
    shared: new MemoryShared(),
    now: () => Date.now(),
    keep: (key, create) => keeper.keep(key, create),
    section: ((section: unknown) => {
      if (section === listen) return { trusted_proxies: proxies };
      return section === operatorsSection ? operators : [];
    }) as unknown as Host['section'],
    service: service ?? {
      name: 'Daypass',
      prefix: 'dp',
      slug: 'daypass',
      baseUrl: 'http://localhost',
      contact: undefined,
    },
    ...others,
  };
  return host as Host;
}

/** A page that prints what it is given. */
export function pageAt(path: string, settings: Partial<Page> = {}): Page {
  return {
    path,
    role: 'public',
    title: 'test.title',
    template: `${import.meta.dirname}/page-fixture.eta`,
    show: () => ({}),
    ...settings,
  };
}

export const testTexts = defineTexts({
  en: { 'test.title': 'Test page', 'test.note': 'Value {value}', 'test.taken': 'Already taken.' },
  id: { 'test.title': 'Halaman uji', 'test.note': 'Nilai {value}', 'test.taken': 'Sudah dipakai.' },
});

/** What a browser remembers between two requests. */
export class Browser {
  readonly #server: Server;
  readonly cookies = new Map<string, string>();

  constructor(server: Server) {
    this.#server = server;
  }

  async get(url: string, headers: Record<string, string> = {}) {
    return this.#keepCookies(await this.#server.inject({ url, headers: this.#headers(headers) }));
  }

  /** Sends a form as its page has it: the token comes from `page`, the page itself when left out. */
  async send(url: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}, page = url) {
    return this.post(url, { form_token: await this.token(page, url), ...fields }, headers);
  }

  async post(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const payload = new URLSearchParams(fields).toString();
    const response = await this.#server.inject({
      method: 'POST',
      url,
      payload,
      headers: this.#headers({ ...type, ...headers }),
    });
    return this.#keepCookies(response);
  }

  /** The token of the form on `page` that is sent to `action`. */
  async token(page: string, action: string): Promise<string> {
    const { payload } = await this.get(page);
    const form = payload.split('<form').find((part) => part.includes(`action="${action}"`));
    const token = /name="form_token" value="([^"]+)"/.exec(form ?? '')?.[1];
    if (token === undefined) throw new Error(`no form for ${action} on ${page}`);
    return token;
  }

  #headers(headers: Record<string, string>): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { accept: 'text/html', ...(cookie !== '' && { cookie }), ...headers };
  }

  #keepCookies<R extends { headers: { 'set-cookie'?: string | string[] | undefined } }>(response: R): R {
    for (const line of [response.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }
}
