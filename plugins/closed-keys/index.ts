import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { retryAction } from './actions.ts';
import { deleteOldClosures } from './closed-keys.ts';
import { startKeeper } from './keeper.ts';
import { closedKeysPage, retryPage } from './pages.ts';
import { closedKeyProblems } from './problems.ts';
import { closedKeys } from './resource.ts';

const deletionJob: JobDefinition = {
  name: 'forget-closed-keys',
  description: 'Deletes the closures of keys that gateway.yaml no longer has.',
  schedule: { pattern: '31 4 * * *' },
  attempts: 1,
  run: (_data, host) => deleteOldClosures(host),
};

/** Remembers keys that vendors have closed, so that requests skip them, and notifies operators once per key. */
export const plugin: GatewayPlugin = {
  name: 'closed-keys',
  register({ gateway }) {
    gateway.tables({ name: 'closed_key', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.job(deletionJob);
    gateway.onConfigured((_server, host) => startKeeper(host));
    gateway.problem(closedKeyProblems);
    for (const page of [closedKeysPage, retryPage]) gateway.page(page);
    gateway.resource(closedKeys, {
      description: 'list upstream API keys that vendors have closed, and try one again',
      actions: [retryAction],
    });
  },
};
