import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** One answer of a vendor about the balance of a key's account, or why there was none. */
export const BalanceReading = defineEntity({
  name: 'BalanceReading',
  tableName: 'balance_reading',
  properties: {
    id: p.uuid().primary(),
    /** Of the key and its host. */
    digest: impersonal(p.text()),
    readAt: p.datetime(),
    amount: p.double().nullable(),
    currency: impersonal(p.text().nullable()),
    /** False where the vendor says that it refuses calls. */
    isAvailable: p.boolean().nullable(),
    /** Why the vendor reported no balance, in its words. */
    error: impersonal(p.text().nullable()),
  },
  indexes: [{ name: 'balance_reading_of_key', properties: ['digest', 'readAt'] }],
});
