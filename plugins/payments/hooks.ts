import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { receiveNotification } from '#core/business/payments/inbox.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { bounds } from '#core/platform/bounds.ts';

/**
 * Only its signature authenticates a notification: there is no session and no form token. The body stays unparsed, because some signatures
 * cover its bytes.
 */
export function createNotificationRoute(host: () => Host): ServerRoute {
  return {
    method: 'POST',
    path: '/hooks/{provider}',
    options: {
      auth: false,
      state: { parse: false },
      payload: {
        parse: false,
        output: 'data',
        maxBytes: bounds.paymentNotification,
        override: 'application/octet-stream',
      },
    },
    handler: (request, h) => respond(host(), request, h),
  };
}

async function respond(host: Host, request: Request, h: ResponseToolkit): Promise<ResponseObject> {
  const { status, body, contentType } = await receiveNotification(host, String(request.params['provider']), {
    headers: joinHeaderValues(request.raw.req.headers),
    body: Buffer.isBuffer(request.payload) ? request.payload : Buffer.alloc(0),
    query: request.url.searchParams,
  });
  return h.response(body).code(status).type(contentType).header('cache-control', 'no-store');
}

function joinHeaderValues(headers: Request['raw']['req']['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
