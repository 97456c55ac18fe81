import type { ServerRoute } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import { verifyToken, setSubscribed, unsubscribePath } from './link.ts';

const oneClickPath = '/one-click'; // a path of its own, because pages accept forms only from this gateway's own pages

export function buildOneClickUrl(pageUrl: string): string {
  return pageUrl.replace(`${unsubscribePath}/`, `${unsubscribePath}${oneClickPath}/`);
}

/**
 * Creates the endpoint for one-click unsubscribe in mail programs (RFC 8058): a POST without cookies unsubscribes. A GET, which link
 * scanners also send, is redirected to the page.
 */
export function createOneClickRoutes(host: () => Host): ServerRoute[] {
  const path = `${unsubscribePath}${oneClickPath}/{token}`;
  const options = { auth: false, state: { parse: false, failAction: 'ignore' } } as const;
  const payload = { parse: false, output: 'data', maxBytes: 4_096, override: 'application/octet-stream' } as const;
  return [
    {
      method: 'GET',
      path,
      options,
      handler: (request, h) => h.redirect(`${unsubscribePath}/${encodeURIComponent(String(request.params['token']))}`),
    },
    {
      method: 'POST',
      path,
      options: { ...options, payload },
      async handler(request, h) {
        const { database } = host();
        const accountId = await verifyToken(database, String(request.params['token']));
        if (accountId === undefined) return h.response().code(404);
        await setSubscribed(database, accountId, false);
        return h.response().code(200);
      },
    },
  ];
}
