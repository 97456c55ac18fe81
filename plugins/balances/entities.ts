import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** One reading of the balance of a key's account, or why it could not be read. */
export const BalanceReading = defineEntity({
  name: 'BalanceReading',
  tableName: 'balance_reading',
  properties: {
    id: p.uuid().primary(),
    /** Digest of the key together with its host. */
    digest: impersonal(p.text()),
    readAt: p.datetime(),
    amount: p.double().nullable(),
    currency: impersonal(p.text().nullable()),
    /** False if the vendor says that it rejects calls. */
    isAvailable: p.boolean().nullable(),
    /** Why the vendor reported no balance, in the vendor's words. */
    error: impersonal(p.text().nullable()),
  },
  indexes: [{ name: 'balance_reading_of_key', properties: ['digest', 'readAt'] }],
});
