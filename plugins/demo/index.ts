import type { Vendor } from '#core/catalog/catalog.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { startDemoUpstream } from './server.ts';

const demo: Vendor = {
  name: 'demo',
  title: 'Demo',
  formats: ['chat', 'responses', 'messages', 'images'],
  baseUrl: 'http://demo.invalid/v1', // Replaced by the address of the server, which is only known when it runs.
  auth: 'none',
  isDemo: true,
  start: ({ log }) => startDemoUpstream({ log }),
};

/** An upstream that needs no key and no network, answers out of thin air, and fails on request. See README.md here. */
export const plugin: GatewayPlugin = {
  name: 'demo',
  register(server) {
    server.gateway.vendor(demo);
  },
};
