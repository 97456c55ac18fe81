import type { Request } from '@hapi/hapi';

/** Returns true if htmx sent the request, for a part of a page. */
export function isHtmx({ raw }: Pick<Request, 'raw'>): boolean {
  return raw.req.headers['hx-request'] === 'true';
}
