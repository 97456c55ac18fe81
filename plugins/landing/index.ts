import { join } from 'node:path';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { readRouteStatus } from '#core/model-call/route-status.ts';
import { defineTexts } from '#core/pages/texts.ts';
import { describeLanding } from './describe-landing.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** The front page. */
export const plugin: GatewayPlugin = {
  name: 'landing',
  register(server) {
    server.gateway.texts(defineTexts({ en, id }));
    server.gateway.page({
      path: '/',
      role: 'public',
      title: 'landing.title',
      description: 'landing.lead',
      template: join(import.meta.dirname, '..', '..', 'views', 'landing.eta'),
      show(request) {
        // Upstreams and their faults are the operator's business.
        const statuses = request.isOperator ? readRouteStatus(server.gateway, request.host) : undefined;
        return describeLanding(request, statuses);
      },
    });
  },
};
