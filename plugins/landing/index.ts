import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { describeLanding } from './describe-landing.ts';

export const plugin: GatewayPlugin = {
  name: 'landing',
  register(server) {
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
