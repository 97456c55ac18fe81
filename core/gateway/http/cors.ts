import type { IncomingMessage, ServerResponse } from 'node:http';

/** Origins whose pages may call the API, see `listen.cors_origins`; `*` allows any. */
export type CorsOrigins = ReadonlySet<string>;

const preflightMaxAgeSeconds = 7_200; // some browsers cap it lower

const methods = 'GET, POST, DELETE';

const headerNames = /^[\w-]+(?: *, *[\w-]+)*$/; // the browser's list is allowed as sent, because SDKs add their own headers

/**
 * Allows pages of other origins to call the API from a browser (Fetch Standard, "CORS protocol"). Browser credentials are never allowed, so
 * a page can only act with a key that the user gave it.
 *
 * @returns true for a preflight, which gets its response here because browsers send it without a key
 */
export function allowOrigin(request: IncomingMessage, response: ServerResponse, origins: CorsOrigins): boolean {
  const { origin, 'access-control-request-method': method } = request.headers;
  if (origin === undefined) return false;
  const isPreflight = request.method === 'OPTIONS' && method !== undefined;
  const allowsAny = origins.has('*');
  if (!allowsAny) response.setHeader('vary', 'origin');
  if (allowsAny || origins.has(origin)) {
    response.setHeader('access-control-allow-origin', allowsAny ? '*' : origin);
    response.setHeader('access-control-expose-headers', '*');
    if (isPreflight) allowRequest(request, response);
  }
  if (isPreflight) response.writeHead(204).end();
  return isPreflight;
}

function allowRequest({ headers }: IncomingMessage, response: ServerResponse): void {
  const requestedHeaders = headers['access-control-request-headers'] ?? '';
  response.setHeader('access-control-allow-methods', methods);
  response.setHeader('access-control-max-age', preflightMaxAgeSeconds);
  if (headerNames.test(requestedHeaders)) response.setHeader('access-control-allow-headers', requestedHeaders);
}
