import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { impersonal, personal } from '#core/platform/database/personal.ts';

/**
 * A response of the Responses format that can be continued and fetched by its id, for a time. Texts hold JSON as it came:
 * PostgreSQL's own JSON cannot store every character that JSON allows.
 */
export const ResponseStore = defineEntity({
  name: 'ResponseStore',
  tableName: 'response_store',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    /** As the client got it. */
    id: impersonal(p.text().primary()),
    /** Every item before the output, those of the continued responses included. */
    input: personal(p.text()),
    /** The response object; its output belongs behind the input. */
    response: personal(p.text()),
    /** Of the output's items, for references to them. */
    itemIds: impersonal(p.array()),
    createdAt: p.datetime(),
    expiresAt: p.datetime().index('response_store_expires_at'),
  },
  indexes: [{ name: 'response_store_item_ids', properties: 'itemIds', type: 'gin' }],
});
