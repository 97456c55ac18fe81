import { removeOldActions } from '#core/business/operator-actions/operator-actions.ts';
import { isOpenShop } from '#core/business/payments/section.ts';
import { defineSection } from '#core/config/section.ts';
import { operatorsSection } from '#core/config/sections/operators-section.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { integer, object } from '#core/platform/schema.ts';

export const operatorActionsSection = defineSection({
  name: 'operator_actions',
  schema: object({ default: {} }, 'Record of operator actions.', {
    keep_days: integer({ minimum: 90, maximum: 36_500, default: 1_095 }, 'Days to keep the records.'),
  }),
  notices: (_value, all) =>
    all.get(operatorsSection).length === 0 && isOpenShop(all.get)
      ? [
          'no account can open the operator pages: set operators to the email addresses of their accounts, then open /operator',
        ]
      : [],
});

export const actionRetentionJob: JobDefinition = {
  name: 'remove-old-operator-actions',
  description: 'Deletes records of operator actions older than operator_actions.keep_days.',
  schedule: { pattern: '29 3 * * *' },
  run: (_data, host) => removeOldActions(host.database, host.section(operatorActionsSection).keep_days),
};
