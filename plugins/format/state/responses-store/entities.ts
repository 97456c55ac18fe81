import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { impersonal, personal } from '#core/platform/database/personal.ts';

/**
 * A response in the Responses format that can be continued and fetched by its id until it expires. JSON is stored as text, because
 * PostgreSQL's JSON types cannot store every character that JSON allows.
 */
export const ResponseStore = defineEntity({
  name: 'ResponseStore',
  tableName: 'response_store',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    /** The id that the client received. */
    id: impersonal(p.text().primary()),
    /** All items before the output, including those of the responses that were continued. */
    input: personal(p.text()),
    /** The response object. Its output follows the input. */
    response: personal(p.text()),
    /** Ids of output items, to which requests can refer. */
    itemIds: impersonal(p.array()),
    createdAt: p.datetime(),
    /** When the lease expires, unless the running instance renews it; null for a response that has ended. */
    runningUntil: p.datetime().nullable(),
    expiresAt: p.datetime().index('response_store_expires_at'),
  },
  indexes: [
    { name: 'response_store_item_ids', properties: 'itemIds', type: 'gin' },
    {
      name: 'response_store_running',
      expression:
        'CREATE INDEX response_store_running ON response_store (running_until) WHERE running_until IS NOT NULL',
    },
  ],
});

/** Events of a background response, for clients that read its stream from the beginning or resume it. */
export const ResponseEvent = defineEntity({
  name: 'ResponseEvent',
  tableName: 'response_event',
  properties: {
    response: () => p.manyToOne(ResponseStore).primary().joinColumns('account_id', 'response_id').deleteRule('cascade'),
    /** Number of the last event. */
    lastSequence: p.integer().primary(),
    /** Consecutive events, exactly as streamed. */
    events: personal(p.text()),
    createdAt: p.datetime().index('response_event_created_at'),
  },
});
