import { text } from '#core/business/operator-actions/action-kind.ts';
import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, readPage } from '#core/web/resources/resource.ts';
import { type CountedBatch, listBatches, type ListedVoucher, listVouchers } from './voucher-batches.ts';

export const batches = defineResource({
  name: 'batch',
  plural: 'batches',
  summary: 'list batches and how many of their vouchers are open, redeemed and revoked, newest first',
  query: object({ after: createAfterSchema('batch') }),
  view: defineView<CountedBatch>()({
    batch: { type: 'id', of: 'id' },
    created: { type: 'text', print: ({ createdAt }, { time }) => time(createdAt).slice(0, 10) },
    expires: { type: 'text', print: ({ expiresAt }, { time }) => time(expiresAt).slice(0, 10) },
    days: { type: 'count', of: 'days' },
    source: { type: 'state', of: 'source' },
    for: { type: 'text', value: ({ isForNew }) => (isForNew ? 'new' : 'all') },
    open: { type: 'count', of: 'open' },
    redeemed: { type: 'count', of: 'redeemed' },
    revoked: { type: 'count', of: 'revoked' },
    note: { type: 'text', of: 'note' },
  }),
  list: ({ database }, { after }, { limit }) => readPage(limit, (maxRows) => listBatches(database, maxRows, after)),
});

export const vouchers = defineResource({
  name: 'voucher',
  summary: 'list vouchers and their redeemers, oldest first, showing only the last four characters of each code',
  query: object({
    batch: text('Only vouchers of this batch.'),
    after: createAfterSchema('voucher'),
  }),
  view: defineView<ListedVoucher>()({
    code: { type: 'id', value: ({ hint }) => `…${hint}` },
    batch: { type: 'id', of: 'batchId' },
    days: { type: 'count', of: 'days' },
    source: { type: 'state', of: 'source' },
    state: { type: 'state', of: 'state' },
    expires: { type: 'time', of: 'expiresAt' },
    redeemed: { type: 'time', of: 'redeemedAt' },
    account: { type: 'person', of: 'accountId' },
    note: { type: 'text', of: 'note' },
  }),
  list: ({ database }, query, { limit }) =>
    readPage(limit, (maxRows) => listVouchers(database, { ...query, limit: maxRows })),
});
