import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
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
      navigation: [
        { label: 'landing.plans', path: '/#plans', order: 10 },
        { label: 'landing.models', path: '/#models', order: 20 },
        { label: 'landing.setup', path: '/#connect', order: 30 },
      ],
      styles: ['landing/landing.css', 'tables.css'],
      title: 'landing.title',
      description: 'landing.description',
      template: 'landing/page.eta',
      show: (request) => describeLanding(server.gateway, request),
    });
  },
};
