import { formatMoney } from '#core/business/accounts/money.ts';
import { text } from '#core/business/operator-actions/action-kind.ts';
import { boolean, object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, readPage } from '#core/web/resources/resource.ts';
import { getBuyer, findReceipts, formatNumber, buildOperatorPath, type Receipt } from './read.ts';

export const receiptsPath = '/operator/receipts';

export const receipts = defineResource({
  name: 'receipt',
  summary: 'list receipts of payments and refunds, newest first',
  query: object({
    words: text("Receipt number, order code, or part of the buyer's name.", 200),
    waiting: boolean('only receipts that have no number yet'),
    after: createAfterSchema('receipt'),
  }),
  view: defineView<Receipt>()(
    {
      receipt: {
        type: 'link',
        label: 'operator.receipt_number',
        at: 'title',
        value: (receipt) => ({ text: formatNumber(receipt) ?? '–', path: buildOperatorPath(receipt.id), isCode: true }),
      },
      id: { type: 'id', of: 'id' },
      kind: { type: 'state', label: 'operator.receipt_kind', at: 'hide', of: 'kind' },
      buyer: {
        type: 'text',
        label: 'operator.fact.buyer',
        fit: 'brief',
        at: 'note',
        value: (receipt) => getBuyer(receipt).name,
      },
      npwp: { type: 'text', value: (receipt) => getBuyer(receipt).npwp },
      order: {
        type: 'link',
        label: 'operator.order',
        at: 'below',
        value: ({ code }) => ({ text: code, path: `/operator/orders/${code}`, isCode: true }),
      },
      date: { type: 'time', label: 'operator.time', at: 'note-end', of: 'madeAt' },
      amount: {
        type: 'text',
        label: 'operator.receipt_amount',
        at: 'end',
        value: ({ kind, amount, currency }) => formatMoney(kind === 'refund' ? -amount : amount, currency),
      },
    },
    ['receipt', 'kind', 'date', 'order', 'buyer', 'npwp', 'amount', 'id'],
  ),
  list: ({ database }, query, { limit }) => readPage(limit, (maxRows) => findReceipts(database, query, maxRows)),
});
