import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { retryAction } from './actions.ts';
import { closedKeyCommand } from './command.ts';
import { keepClosedKeys } from './keeper.ts';
import { closedKeysPage, retryPage } from './pages.ts';
import { closedKeyProblems } from './problems.ts';
import { closedKeys } from './resource.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Remembers the keys that vendors have closed: requests leave them alone, and operators hear of each once. */
export const plugin: GatewayPlugin = {
  name: 'closed-keys',
  register({ gateway }) {
    gateway.tables({ name: 'closed_key', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.onConfigured((_server, host) => keepClosedKeys(host));
    gateway.texts(defineTexts({ en, id }));
    gateway.problem(closedKeyProblems);
    gateway.action(retryAction);
    for (const page of [closedKeysPage, retryPage]) gateway.page(page);
    gateway.resource(closedKeys);
    gateway.command(closedKeyCommand);
  },
};
