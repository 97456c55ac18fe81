import { join } from 'node:path';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { readRouteStatus } from '#core/model-call/route-status.ts';
import { defineTexts } from '#core/pages/texts.ts';
import { describeHome } from './home.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** What people see in a browser. */
export const plugin: GatewayPlugin = {
  name: 'dashboard',
  register(server) {
    server.gateway.texts(defineTexts({ en, id }));
    server.gateway.page({
      path: '/',
      role: 'public',
      title: 'home.title',
      description: 'home.lead',
      template: join(import.meta.dirname, '..', '..', 'views', 'home.eta'),
      show(request) {
        // Upstreams and their faults are the operator's business.
        const statuses = request.isOperator ? readRouteStatus(server.gateway, request.host) : undefined;
        return describeHome(request, statuses);
      },
    });
  },
};
