import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { readAllowance } from './allowance.ts';
import { rateLimitStage } from './stage.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Limits the requests of each key. */
export const plugin: GatewayPlugin = {
  name: 'rate-limit',
  register(server) {
    server.gateway.stage(rateLimitStage);
    server.gateway.allowance(readAllowance);
    server.gateway.texts(defineTexts({ en, id }));
  },
};
