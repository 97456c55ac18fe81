import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { impersonal } from '#core/platform/database/personal.ts';

/** An account that came from another gateway, once: a second run finds it here, also when the customer has been deleted since. */
export const ImportedAccount = defineEntity({
  name: 'ImportedAccount',
  tableName: 'import_account',
  properties: {
    /** Name of the gateway: `new-api`. */
    source: impersonal(p.text()).primary(),
    /** The id of the user there, a number. */
    sourceId: impersonal(p.text()).primary(),
    account: () => p.manyToOne(Account).updateRule('no action').deleteRule('no action').index('import_account_account'),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
});
