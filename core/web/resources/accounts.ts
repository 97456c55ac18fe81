import { accountStates, type AccountSummary, listAccounts } from '#core/business/accounts/account-list.ts';
import { text } from '#core/business/operator-actions/action-kind.ts';
import { object } from '#core/platform/schema.ts';
import { formatAccountLabel, formatAccountName } from '../pages/account-name.ts';
import { defineView } from './field.ts';
import { toOperatorJson } from './operator-json.ts';
import { createAfterSchema, defineResource, readPage } from './resource.ts';

export const accountKinds = {
  active: 'ok',
  inactive: undefined,
  paused: 'warn',
  blocked: 'bad',
  deleted: undefined,
} as const;

export const accounts = defineResource({
  name: 'account',
  summary: 'list or search accounts, newest first',
  query: object({
    words: text('Part of a name or e-mail address, an id, or a key hint.'),
    state: { enum: accountStates, description: 'Only accounts in this state.' },
    after: createAfterSchema('account'),
  }),
  view: defineView<AccountSummary>()({
    account: {
      type: 'id',
      fit: 'id',
      at: 'title',
      of: 'id',
      cell: (account, { t }) => ({ text: formatAccountLabel(account, t), path: `/operator/accounts/${account.id}` }),
    },
    name: { type: 'text', fit: 'id', at: 'hide', of: 'name', cell: ({ name }, { t }) => formatAccountName(name, t) },
    email: { type: 'text', heading: 'e-mail', of: 'email' },
    key: { type: 'id', isSpare: true, at: 'note', of: 'hint' },
    state: { type: 'state', at: 'end', texts: 'operator.account_state', kinds: accountKinds, of: 'state' },
    plan_until: { type: 'time', at: 'note-end', of: 'endsAt' },
    requests: { type: 'count', at: 'hide', of: 'requestCount' },
  }),
  async list({ database }, query, { limit }) {
    return readPage(limit, (max) => listAccounts(database, { ...query, limit: max }));
  },
  write: ({ entries }) => entries.map((entry) => ({ account: entry.id, ...(toOperatorJson(entry) as object) })),
});
