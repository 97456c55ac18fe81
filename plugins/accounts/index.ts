import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { accounts } from '#core/web/resources/accounts.ts';
import { accountCommand, accountReading } from './account/command.ts';
import { duplicateAddresses } from './duplicate-problems.ts';
import { cleanDeletedJob, publishJob, retentionJob, planEndJob, planEndSweep } from './jobs.ts';
import { registerAccountPages } from './pages/index.ts';

/**
 * `daypass account`, the pages where owners manage their account, and the jobs that publish and delete events and record when plans end.
 */
export const plugin: GatewayPlugin = {
  name: 'accounts',
  register(server) {
    registerAccountPages(server);
    server.gateway.command(accountCommand);
    server.gateway.resource(accounts);
    server.gateway.operatorReading(accountReading);
    server.gateway.problem(duplicateAddresses);
    server.gateway.job(publishJob);
    server.gateway.job(retentionJob);
    server.gateway.job(planEndJob);
    server.gateway.job(planEndSweep);
    server.gateway.job(cleanDeletedJob);
    server.gateway.onConfigured(async (_server, host) => {
      const { getEventRelay } = await import('#core/business/accounts/event-relay.ts');
      await getEventRelay(host).ready();
    });
  },
};
