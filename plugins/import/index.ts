import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { createImportCommand } from './command.ts';

/** Migration from other gateways: `daypass import`. */
export const plugin: GatewayPlugin = {
  name: 'import',
  register({ gateway }) {
    gateway.tables({ name: 'import', entities: async () => Object.values(await import('./users/entities.ts')) });
    gateway.command(createImportCommand(() => gateway.vendors));
  },
};
