import { randomBytes } from 'node:crypto';
import type { Request, ResponseToolkit, ServerStateCookieOptions } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import { clientConnection } from '#core/gateway/http/client-connection.ts';

/**
 * Cookies for pages. All are HttpOnly except the time zone, which the page's script writes.
 *
 * - `session`: 256 random bits. Starts with `s` if it belongs to a session in the database, and with `v` for a visitor, whose token is not
 *   stored and expires when the browser is closed. Forms are bound to it.
 * - `language`, `theme`: the visitor's choice, for a year.
 * - `zone`: the IANA name of the visitor's time zone.
 */
type CookieName = 'session' | Preference | 'zone';

/** A visitor's choice for this browser. */
export type Preference = 'language' | 'theme';

const sessionToken = /^[sv][\w-]{43}$/;
const yearMs = 365 * 24 * 60 * 60 * 1000;

export function createToken(kind: 's' | 'v'): string {
  return kind + randomBytes(32).toString('base64url');
}

export function isSessionToken(token: string | undefined): token is `s${string}` {
  return token?.startsWith('s') === true;
}

/** Returns true if the browser connects over HTTPS, according to `service.base_url` or a trusted proxy. */
export function isSecure(request: Pick<Request, 'info' | 'raw'>, host: Pick<Host, 'section' | 'service'>): boolean {
  return host.service.baseUrl.startsWith('https:') || clientConnection(request, host).isSecure;
}

/** `__Host-` cookies cannot be set by other hosts in the domain. */
function buildCookieName(cookie: CookieName, prefix: string, isHttps: boolean): string {
  return cookie === 'session' && isHttps ? `__Host-${prefix}_session` : `${prefix}_${cookie}`;
}

const cookiesByRequest = new WeakMap<Request, Cookies>(); // so that a cookie that one part sets is visible to the others

export function cookiesOf(request: Request, host: Pick<Host, 'section' | 'service'>): Cookies {
  const cookies = cookiesByRequest.get(request) ?? new Cookies(request, host);
  cookiesByRequest.set(request, cookies);
  return cookies;
}

export class Cookies {
  readonly #request: Request;
  readonly #prefix: string;
  readonly #isHttps: boolean;
  readonly #changes = new Map<CookieName, string | undefined>(); // set by this response; reads return them immediately

  /**
   * hapi does not parse cookies for unknown routes and assets. Their error pages would treat the visitor as new and replace the session.
   */
  get #requestCookies(): Readonly<Record<string, unknown>> {
    return this.#request.state ?? parseCookies(this.#request.raw.req.headers.cookie);
  }

  constructor(request: Request, host: Pick<Host, 'section' | 'service'>) {
    this.#request = request;
    this.#prefix = host.service.prefix;
    this.#isHttps = isSecure(request, host);
  }

  get(cookie: CookieName): string | undefined {
    if (this.#changes.has(cookie)) return this.#changes.get(cookie);
    const value: unknown = this.#requestCookies[buildCookieName(cookie, this.#prefix, this.#isHttps)];
    return typeof value === 'string' ? value : undefined;
  }

  get token(): string | undefined {
    const token = this.get('session');
    return token !== undefined && sessionToken.test(token) ? token : undefined;
  }

  /** @param expiresAt latest end of the session; default: when the browser is closed */
  setToken(h: ResponseToolkit, token: string, expiresAt?: Date): void {
    this.#set(h, 'session', token, expiresAt === undefined ? null : expiresAt.getTime() - Date.now());
  }

  clearToken(h: ResponseToolkit): void {
    this.#changes.set('session', undefined);
    h.unstate(buildCookieName('session', this.#prefix, this.#isHttps), this.#options(null));
  }

  setPreference(h: ResponseToolkit, preference: Preference, value: string): void {
    this.#set(h, preference, value, yearMs);
  }

  #set(h: ResponseToolkit, cookie: CookieName, value: string, ttl: number | null): void {
    this.#changes.set(cookie, value);
    h.state(buildCookieName(cookie, this.#prefix, this.#isHttps), value, this.#options(ttl));
  }

  #options(ttl: number | null): ServerStateCookieOptions {
    return { ttl, path: '/', encoding: 'none', isHttpOnly: true, isSameSite: 'Lax', isSecure: this.#isHttps };
  }
}

/** Ignores cookies whose name occurs twice, as hapi does. */
function parseCookies(header = ''): Record<string, unknown> {
  const pairs = header.split(';').map((pair) => pair.trim().split('='));
  const groups = Map.groupBy(pairs, ([name = '']) => name);
  return Object.fromEntries(
    [...groups].map(([name, values]) => [name, values.length === 1 ? values[0]?.[1] : undefined]),
  );
}
