import { join } from 'node:path';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { readRouteStatus } from '#core/model-call/route-status.ts';
import { defineTexts } from '#core/pages/texts.ts';
import { describeLanding } from './describe-landing.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

const views = join(import.meta.dirname, '..', '..', 'views');

/** The front page. */
export const plugin: GatewayPlugin = {
  name: 'landing',
  register(server) {
    server.gateway.texts(defineTexts({ en, id }));
    server.gateway.assets({ name: 'landing.css', path: join(views, 'landing.css') });
    server.gateway.page({
      path: '/',
      role: 'public',
      navigation: [
        { label: 'landing.plans', path: '/#plans', order: 10 },
        { label: 'landing.models', path: '/#models', order: 20 },
        { label: 'landing.setup', path: '/#connect', order: 30 },
      ],
      styles: ['landing.css'],
      title: 'landing.title',
      description: 'landing.lead',
      template: join(views, 'landing.eta'),
      show(request) {
        // Upstreams and their faults are the operator's business.
        const statuses = request.isOperator ? readRouteStatus(server.gateway, request.host) : undefined;
        return describeLanding(request, statuses);
      },
    });
  },
};
