import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { keyCommand } from './command.ts';
import { replyWithKey } from './describe-key.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** `GET /v1/key` for callers and `daypass key` for operators. */
export const plugin: GatewayPlugin = {
  name: 'keys',
  register(server) {
    server.gateway.command(keyCommand);
    server.gateway.texts(defineTexts({ en, id }));
    server.gateway.endpoint({
      name: 'key',
      method: 'GET',
      path: '/v1/key',
      isMetered: false,
      isAliased: true,
      documentation: { summary: 'keys.docs.key' },
      answer: (exchange) => replyWithKey(server.host(), exchange),
    });
  },
};
