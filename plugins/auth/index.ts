import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { authStage } from './stage.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Identifies callers by their API keys. */
export const plugin: GatewayPlugin = {
  name: 'auth',
  register(server) {
    server.gateway.stage(authStage);
    server.gateway.texts(defineTexts({ en, id }));
  },
};
