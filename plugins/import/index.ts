import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { createImportCommand } from './command.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Migration from other gateways: `daypass import`. */
export const plugin: GatewayPlugin = {
  name: 'import',
  register({ gateway }) {
    gateway.tables({ name: 'import', entities: async () => Object.values(await import('./users/entities.ts')) });
    gateway.texts(defineTexts({ en, id }));
    gateway.command(createImportCommand(() => gateway.vendors));
  },
};
