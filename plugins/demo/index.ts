import type { Vendor } from '#core/config/catalog/catalog.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';

const demo: Vendor = {
  name: 'demo',
  title: 'Demo',
  formats: ['chat', 'completions', 'embeddings', 'images', 'speech', 'transcriptions', 'moderations', 'rerank'],
  models: [
    { match: 'image', kind: 'image' },
    { match: 'embedding', kind: 'embedding' },
    { match: 'speech', kind: 'speech' },
    { match: 'transcription', kind: 'transcription' },
    { match: 'moderation', kind: 'moderation' },
    { match: 'rerank', kind: 'rerank' },
  ],
  baseUrl: 'http://demo.invalid/v1', // replaced by the server's URL once it listens
  auth: 'none',
  isDemo: true,
  start: async ({ log }) => (await import('./server.ts')).startDemoUpstream({ log }),
};

/** An upstream that needs neither keys nor a network: it makes up its answers, and fails when asked to. See README.md in this folder. */
export const plugin: GatewayPlugin = {
  name: 'demo',
  register(server) {
    server.gateway.vendor(demo);
  },
};
