import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { operatorTokenCommand } from './command.ts';
import { removeOldCalls } from './idempotency.ts';
import { createOperatorApiRoutes } from './routes.ts';
import { operatorApiSection } from './section.ts';
import { apiTokens } from './tokens-resource.ts';

/** The operator's HTTP API: what commands and pages can do to accounts and orders, as JSON. Off by default. */
export const plugin: GatewayPlugin = {
  name: 'operator-api',
  register({ gateway }) {
    gateway.section(operatorApiSection);
    gateway.tables({ name: 'operator_api', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.command(operatorTokenCommand);
    gateway.resource(apiTokens);
    gateway.job(retentionJob);
    gateway.onConfigured((server, host) => {
      if (host.section(operatorApiSection).enabled)
        server.route(createOperatorApiRoutes(() => server.host(), gateway.operatorReadings));
    });
  },
};

const retentionJob: JobDefinition = {
  name: 'remove-old-operator-calls',
  description: 'Deletes responses stored for repeated operator API calls after a day.',
  schedule: { pattern: '47 3 * * *' },
  run: (_data, { database }) => removeOldCalls(database),
};
