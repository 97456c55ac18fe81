import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { impersonal } from '#core/platform/database/personal.ts';

/** An account imported from another gateway. A second run recognizes it, even if the customer has since been deleted. */
export const ImportedAccount = defineEntity({
  name: 'ImportedAccount',
  tableName: 'import_account',
  properties: {
    /** Name of the other gateway: `new-api`. */
    source: impersonal(p.text()).primary(),
    /** Numeric id of the user at the other gateway. */
    sourceId: impersonal(p.text()).primary(),
    account: () => p.manyToOne(Account).updateRule('no action').deleteRule('no action').index('import_account_account'),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
});
