import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { cacheStage } from './stage.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Caches replies at a client's request. */
export const plugin: GatewayPlugin = {
  name: 'cache',
  register(server) {
    server.gateway.stage(cacheStage);
    server.gateway.texts(defineTexts({ en, id }));
  },
};
