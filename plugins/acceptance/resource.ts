import { text } from '#core/business/operator-actions/action-kind.ts';
import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, readPage } from '#core/web/resources/resource.ts';
import { type AcceptanceRecord, listAcceptances } from './store.ts';

export const acceptances = defineResource({
  name: 'acceptance',
  summary: 'list accepted versions of the terms and refund policy, newest first',
  query: object({
    account: text('Id of the account that accepted.', 100),
    order: text('Number of the order.', 40),
    after: createAfterSchema('acceptance'),
  }),
  view: defineView<AcceptanceRecord>()({
    accepted: { type: 'time', of: 'acceptedAt' },
    account: { type: 'person', of: 'accountId' },
    order: { type: 'text', of: 'code' },
    page: { type: 'text', of: 'page' },
    version: { type: 'text', of: 'version' },
    language: { type: 'text', of: 'language' },
    digest: { type: 'text', of: 'digest' },
    address: { type: 'text', of: 'address' },
  }),
  list: ({ database }, query, { limit }) => readPage(limit, (maxRows) => listAcceptances(database, query, maxRows)),
});
