import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { describeKey } from './describe-key.ts';
import { keyCommand } from './command.ts';

/** `GET /v1/key` for callers and `gateway key` for operators. */
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
      answer: (exchange) => describeKey(server.host(), exchange),
    });
  },
};
