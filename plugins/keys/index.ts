import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { keyCommand } from './command.ts';
import { createKeyReply } from './describe-key.ts';

/** `GET /v1/key` for callers and `daypass key` for operators. */
export const plugin: GatewayPlugin = {
  name: 'keys',
  register(server) {
    server.gateway.command(keyCommand);
    server.gateway.endpoint({
      name: 'key',
      method: 'GET',
      path: '/v1/key',
      isMetered: false,
      isAliased: true,
      documentation: { summary: 'keys.docs.key' },
      answer: (exchange) => createKeyReply(server.host(), exchange),
    });
  },
};
