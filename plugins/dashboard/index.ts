import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ResponseToolkit } from '@hapi/hapi';
import { Eta } from 'eta';
import { isLocal } from '#core/http/local-caller.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { readRouteStatus } from '#core/model-call/route-status.ts';
import { describeHome } from './home.ts';

const views = join(import.meta.dirname, '..', '..', 'views');

/** Nothing of a page comes from elsewhere, and no page is shown inside of another. */
const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
};

/** What people see in a browser. */
export const plugin: GatewayPlugin = {
  name: 'dashboard',
  register(server) {
    const eta = new Eta({ views, cache: true });
    server.route({
      method: 'GET',
      path: '/',
      handler: (request, h) => {
        const host = server.host();
        // Upstreams and their faults are for the operator, and for no cache on the way.
        const statuses = isLocal(request) ? readRouteStatus(server.gateway, host) : undefined;
        const response = page(h, eta.render('./home', describeHome(host, statuses)));
        return statuses === undefined ? response : response.header('cache-control', 'no-store');
      },
    });
    server.route({
      method: 'GET',
      path: '/assets/style.css',
      handler: async (_request, h) =>
        h
          .response(await readFile(join(views, 'style.css')))
          .type('text/css')
          .header('cache-control', 'max-age=300'),
    });
  },
};

function page(h: ResponseToolkit, html: string) {
  const response = h.response(html).type('text/html');
  for (const [name, value] of Object.entries(securityHeaders)) response.header(name, value);
  return response;
}
