import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { impersonal, personal } from '#core/platform/database/personal.ts';

/**
 * A response of the Responses format that can be continued and fetched by its id until it expires. JSON is stored as text,
 * because PostgreSQL's JSON types cannot store every character that JSON allows.
 */
export const ResponseStore = defineEntity({
  name: 'ResponseStore',
  tableName: 'response_store',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    /** The id sent to the client. */
    id: impersonal(p.text().primary()),
    /** All items before the output, including those of the continued responses. */
    input: personal(p.text()),
    /** The response object, whose output follows the input. */
    response: personal(p.text()),
    /** Ids of the output items that requests can refer to. */
    itemIds: impersonal(p.array()),
    createdAt: p.datetime(),
    /** Expiry of the lease that the running instance renews; null for a response that has ended. */
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
