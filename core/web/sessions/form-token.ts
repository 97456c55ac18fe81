import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import { clientConnection } from '#core/gateway/http/client-connection.ts';
import { PageError } from '../pages/page-error.ts';

/**
 * Every form carries a token: the id of this one form, which holds the second it was made in, and an HMAC of id and path
 * under the browser's session token. Another site can make a browser send a form, but it cannot read the session token.
 * The reasons for checking this in addition to fetch metadata are in docs/decisions/.
 */

/** Form lifetime, seconds. */
export const formLifetime = 24 * 60 * 60;

/** Name of the hidden field. */
export const formTokenField = 'form_token';

/**
 * The token for a form that is sent to `path`.
 *
 * @param now epoch ms
 */
export function createFormToken(sessionToken: string, path: string, now: number): string {
  const id = `${Math.floor(now / 1000).toString(36)}.${randomBytes(9).toString('base64url')}`;
  return `${id}.${sign(sessionToken, id, path)}`;
}

/**
 * Verifies the token of a sent form, and returns the form's unique id.
 *
 * @param token the value of the hidden field
 * @param lifetime seconds
 * @throws PageError if it is not a form of this browser for this path, or is too old
 */
export function readFormToken(
  token: unknown,
  sessionToken: string | undefined,
  path: string,
  now: number,
  lifetime: number = formLifetime,
): string {
  const [, id = '', createdAt = '', signature = ''] = /^((\w+)\.[\w-]+)\.([\w-]+)$/.exec(String(token)) ?? [];
  if (sessionToken === undefined || !isEqual(signature, sign(sessionToken, id, path))) {
    throw new PageError(403, 'form.unknown');
  }
  const age = now / 1000 - Number.parseInt(createdAt, 36);
  if (age > lifetime) throw new PageError(403, 'form.expired');
  return id;
}

/**
 * Rejects cross-origin requests: by `Sec-Fetch-Site` over HTTPS and on localhost, by `Origin` elsewhere and in older browsers. Without both
 * headers, the token decides.
 *
 * @throws PageError
 */
export function requireSameOrigin(request: Request, host: Pick<Host, 'section' | 'service'>): void {
  const { origin, 'sec-fetch-site': site } = request.raw.req.headers;
  const isForeign =
    site === undefined
      ? origin !== undefined &&
        origin !== new URL(host.service.baseUrl).origin &&
        URL.parse(origin)?.host !== clientConnection(request, host).host
      : site !== 'same-origin' && site !== 'none';
  if (isForeign) throw new PageError(403, 'form.foreign');
}

function sign(sessionToken: string, id: string, path: string): string {
  return createHmac('sha256', sessionToken).update(`${id} ${path}`).digest('base64url');
}

function isEqual(actual: string, expected: string): boolean {
  return actual.length === expected.length && timingSafeEqual(Buffer.from(actual), Buffer.from(expected));
}
