import { defineView, type FieldReader } from '#core/web/resources/field.ts';
import { defineResource, takeFirst } from '#core/web/resources/resource.ts';
import { type Balance, readBalances } from './balances.ts';

export const balancesPath = '/operator/balances';

/** The money formatter may not support a vendor's currency. */
function formatAmount(amount: number | undefined, currency: string | undefined): string {
  return amount === undefined ? '' : `${amount.toFixed(2)} ${currency}`;
}

function formatLocalAmount(amount: number | undefined, currency: string | undefined, { format }: FieldReader): string {
  return amount === undefined ? '' : `${format.number(Math.round(amount * 100) / 100)} ${currency}`;
}

export const balances = defineResource({
  name: 'balance',
  summary: 'list remaining balances at vendors and how many days they will last, shortest first',
  view: defineView<Balance>('balances')({
    upstream: { type: 'text', fit: 'id', at: 'title', value: ({ upstreams }) => upstreams.join(', ') },
    amount: {
      type: 'text',
      at: 'end',
      value: ({ amount, currency }) => formatAmount(amount, currency),
      cell: ({ amount, currency }, reader) => formatLocalAmount(amount, currency, reader),
    },
    per_day: {
      type: 'text',
      at: 'hide',
      value: ({ perDay, currency }) => formatAmount(perDay, currency),
      cell: ({ perDay, currency }, reader) => formatLocalAmount(perDay, currency, reader),
    },
    days: {
      type: 'text',
      at: 'note',
      isNamed: true,
      value: ({ days }) => (days === undefined ? '' : days.toFixed(1)),
      cell: ({ days }, { format }) => (days === undefined ? '' : format.number(Math.floor(days * 10) / 10)),
    },
    loses: { type: 'text', fit: 'text', at: 'below', value: ({ lostModels }) => lostModels.join(', ') },
    source: { type: 'state', at: 'hide', of: 'source' },
    read: {
      type: 'time',
      at: 'note-end',
      value: ({ readAt }) => (readAt === undefined ? undefined : new Date(readAt)),
    },
    error: { type: 'text', fit: 'text', at: 'hide', of: 'error' },
  }),
  none: 'No balance is known. Vendors that report balances are queried every hour; add your own figures under balances.own.',
  perPage: Infinity,
  list: async (host, _query, { limit }) => takeFirst(await readBalances(host), limit),
});
