import type { JobDefinition } from '#core/gateway/host/host.ts';
import { removeOldActions } from '#core/business/operator-actions/operator-actions.ts';
import { operatorActionsSection } from './actions-section.ts';

export const actionRetentionJob: JobDefinition = {
  name: 'remove-old-operator-actions',
  description: 'Deletes what operators have done before the days of operator_actions.keep_days.',
  schedule: { pattern: '29 3 * * *' },
  run: (_data, host) => removeOldActions(host.database, host.section(operatorActionsSection).keep_days),
};
