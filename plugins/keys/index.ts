import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { describeKey } from './describe-key.ts';
import { keyCommand } from './command.ts';

/** API keys: what their holders see of them, and what operators do to them on the command line. */
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
