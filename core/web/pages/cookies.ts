import { randomBytes } from 'node:crypto';
import type { Request, ResponseToolkit, ServerStateCookieOptions } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import { clientConnection } from '#core/gateway/http/client-connection.ts';

/**
 * Cookies of the pages. All but the time zone, which the page's script writes, are HttpOnly.
 *
 * - `session`: 256 random bits. Begins with `s` if it belongs to a session in the database, and with `v` for a visitor, whose token has no
 * row and lives as long as the browser. Forms are bound to it.
 * - `language`, `theme`: the visitor's choice, for a year.
 * - `zone`: the IANA name of the visitor's time zone.
 */
type CookieName = 'session' | Preference | 'zone';

/** A visitor's choices for this browser. */
export type Preference = 'language' | 'theme';

const sessionToken = /^[sv][\w-]{43}$/;
const year = 365 * 24 * 60 * 60 * 1000; // ms

/** Creates a token for a session (`s`) or a visitor (`v`). */
export function createToken(kind: 's' | 'v'): string {
  return kind + randomBytes(32).toString('base64url');
}

export function isSessionToken(token: string | undefined): token is `s${string}` {
  return token?.startsWith('s') === true;
}

/** Returns true if the browser's connection is HTTPS, according to `service.base_url` or a trusted proxy. */
export function isSecure(request: Pick<Request, 'info' | 'raw'>, host: Pick<Host, 'section' | 'service'>): boolean {
  return host.service.baseUrl.startsWith('https:') || clientConnection(request, host).isSecure;
}

/** `dp_session`; over HTTPS `__Host-dp_session`, which other hosts of the domain cannot set. */
function nameOf(cookie: CookieName, prefix: string, isHttps: boolean): string {
  return cookie === 'session' && isHttps ? `__Host-${prefix}_session` : `${prefix}_${cookie}`;
}

/** Per request, so that a cookie set by one part is visible to the others. */
const byRequest = new WeakMap<Request, Cookies>();

export function cookiesOf(request: Request, host: Pick<Host, 'section' | 'service'>): Cookies {
  const cookies = byRequest.get(request) ?? new Cookies(request, host);
  byRequest.set(request, cookies);
  return cookies;
}

/** Reads and writes the cookies of one request. */
export class Cookies {
  readonly #request: Request;
  readonly #prefix: string;
  readonly #isHttps: boolean;
  /** Set by this response; reads see it at once. */
  readonly #changed = new Map<CookieName, string | undefined>();

  /**
   * hapi parses no cookies for unknown routes and assets. Their error pages would otherwise treat the visitor as new, and
   * replace the session.
   */
  get #sent(): Readonly<Record<string, unknown>> {
    return (
      (this.#request.state as Record<string, unknown> | null) ?? parseCookies(this.#request.raw.req.headers.cookie)
    );
  }

  constructor(request: Request, host: Pick<Host, 'section' | 'service'>) {
    this.#request = request;
    this.#prefix = host.service.prefix;
    this.#isHttps = isSecure(request, host);
  }

  get(cookie: CookieName): string | undefined {
    if (this.#changed.has(cookie)) return this.#changed.get(cookie);
    const value: unknown = this.#sent[nameOf(cookie, this.#prefix, this.#isHttps)];
    return typeof value === 'string' ? value : undefined;
  }

  get token(): string | undefined {
    const token = this.get('session');
    return token !== undefined && sessionToken.test(token) ? token : undefined;
  }

  /** `expiresAt` is the latest end of the session; default: the end of the browser's session. */
  setToken(h: ResponseToolkit, token: string, expiresAt?: Date): void {
    this.#set(h, 'session', token, expiresAt === undefined ? null : expiresAt.getTime() - Date.now());
  }

  clearToken(h: ResponseToolkit): void {
    this.#changed.set('session', undefined);
    h.unstate(nameOf('session', this.#prefix, this.#isHttps), this.#options(null));
  }

  setPreference(h: ResponseToolkit, preference: Preference, value: string): void {
    this.#set(h, preference, value, year);
  }

  #set(h: ResponseToolkit, cookie: CookieName, value: string, ttl: number | null): void {
    this.#changed.set(cookie, value);
    h.state(nameOf(cookie, this.#prefix, this.#isHttps), value, this.#options(ttl));
  }

  #options(ttl: number | null): ServerStateCookieOptions {
    return { ttl, path: '/', encoding: 'none', isHttpOnly: true, isSameSite: 'Lax', isSecure: this.#isHttps };
  }
}

/** Ignores cookies whose name occurs twice, as hapi does. */
function parseCookies(header = ''): Record<string, unknown> {
  const pairs = header.split(';').map((pair) => pair.trim().split('='));
  const groups = Map.groupBy(pairs, ([name = '']) => name);
  return Object.fromEntries([...groups].map(([name, found]) => [name, found.length === 1 ? found[0]?.[1] : undefined]));
}
