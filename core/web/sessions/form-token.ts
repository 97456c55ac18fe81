import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import { clientConnection } from '#core/gateway/http/client-connection.ts';
import { PageError } from '../pages/page-error.ts';

/*
 * Every form carries a token: the form's id, which contains its creation time in seconds, and an HMAC of id and path, keyed with the
 * browser's session token. Another site can make a browser send a form, but cannot read the session token. docs/decisions/0010-pages-on-hapi.md
 * explains why this is checked in addition to fetch metadata.
 */

export const formLifetimeSeconds = 24 * 60 * 60;

export const formTokenField = 'form_token'; // of the hidden field

/** Creates the token for a form that will be sent to `path`. */
export function createFormToken(sessionToken: string, path: string, now: number): string {
  const id = `${Math.floor(now / 1000).toString(36)}.${randomBytes(9).toString('base64url')}`;
  return `${id}.${sign(sessionToken, id, path)}`;
}

/**
 * Verifies the token of a submitted form, and returns the form's unique id. Throws PageError if the form was not created for this browser
 * and path, or has expired.
 */
export function readFormToken(
  token: unknown,
  sessionToken: string | undefined,
  path: string,
  now: number,
  lifetimeSeconds: number = formLifetimeSeconds,
): string {
  const [, id = '', createdAt = '', signature = ''] = /^((\w+)\.[\w-]+)\.([\w-]+)$/.exec(String(token)) ?? [];
  if (sessionToken === undefined || !isEqual(signature, sign(sessionToken, id, path))) {
    throw new PageError(403, 'form.unknown');
  }
  const ageSeconds = now / 1000 - Number.parseInt(createdAt, 36);
  if (ageSeconds > lifetimeSeconds) throw new PageError(403, 'form.expired');
  return id;
}

/**
 * Rejects cross-origin requests (PageError): by `Sec-Fetch-Site` over HTTPS and on localhost, and by `Origin` elsewhere and in older
 * browsers. If a request has neither header, the token decides.
 */
export function requireSameOrigin(request: Request, host: Pick<Host, 'section' | 'service'>): void {
  if (isCrossOrigin(request, host)) throw new PageError(403, 'form.foreign');
}

function isCrossOrigin(request: Request, host: Pick<Host, 'section' | 'service'>): boolean {
  const { origin, 'sec-fetch-site': site } = request.raw.req.headers;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined || origin === new URL(host.service.baseUrl).origin) return false;
  return URL.parse(origin)?.host !== clientConnection(request, host).host;
}

function sign(sessionToken: string, id: string, path: string): string {
  return createHmac('sha256', sessionToken).update(`${id} ${path}`).digest('base64url');
}

function isEqual(actual: string, expected: string): boolean {
  return actual.length === expected.length && timingSafeEqual(Buffer.from(actual), Buffer.from(expected));
}
