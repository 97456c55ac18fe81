import type { Request } from '@hapi/hapi';

/** Returns true for a request that htmx sent for a part of a page. */
export function isHtmx({ raw }: Pick<Request, 'raw'>): boolean {
  return raw.req.headers['hx-request'] === 'true';
}
