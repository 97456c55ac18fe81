import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { impersonal } from '#core/platform/database/personal.ts';

/** A second run recognizes the account, even if the customer has since been deleted. */
export const ImportedAccount = defineEntity({
  name: 'ImportedAccount',
  tableName: 'import_account',
  properties: {
    source: impersonal(p.text()).primary(), // the other gateway, such as `new-api`
    sourceId: impersonal(p.text()).primary(),
    account: () => p.manyToOne(Account).updateRule('no action').deleteRule('no action').index('import_account_account'),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
});
