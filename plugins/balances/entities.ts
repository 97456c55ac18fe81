import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** One reading of the balance of a key's account, or the reason why it failed. */
export const BalanceReading = defineEntity({
  name: 'BalanceReading',
  tableName: 'balance_reading',
  properties: {
    id: p.uuid().primary(),
    /** Digest of the key and its host. */
    digest: impersonal(p.text()),
    readAt: p.datetime(),
    amount: p.double().nullable(),
    currency: impersonal(p.text().nullable()),
    /** False if the vendor reports that it refuses calls. */
    isAvailable: p.boolean().nullable(),
    /** Why the vendor reported no balance, in its words. */
    error: impersonal(p.text().nullable()),
  },
  indexes: [{ name: 'balance_reading_of_key', properties: ['digest', 'readAt'] }],
});
