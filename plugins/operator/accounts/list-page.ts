import {
  accountStates,
  type AccountState,
  type AccountSummary,
  listAccounts,
} from '#core/business/accounts/account-list.ts';
import type { Registry } from '#core/extension/registry.ts';
import { uuid } from '#core/platform/database/database.ts';
import { nameOfAccount, nameOfPerson } from '#core/web/pages/account-name.ts';
import { linksWithin } from '#core/web/pages/list-navigation.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { nextPath } from '../orders/list-page.ts';
import { describeTable, type TableCell, type TableSection } from '#core/web/pages/table.ts';

const pageSize = 50;
/** Characters of a search. */
const longestWords = 200;

/** `/operator/accounts`: search by name, e-mail address, id, key hint and state, the newest first. */
export const accountsPage = (gateway: Pick<Registry, 'pages'>): Page => ({
  path: '/operator/accounts',
  role: 'operator',
  title: 'operator.accounts',
  navigation: { label: 'operator.accounts', icon: 'people', order: 30 },
  template: 'parts/list.eta',
  styles: ['operator.css', 'tables.css'],
  async show(request) {
    const { host, query, t } = request;
    const words = (query['q'] ?? '').trim().slice(0, longestWords);
    const state = accountStates.find((one) => one === query['state']);
    const after = uuid.test(query['after'] ?? '') ? query['after'] : undefined;
    const found = await listAccounts(host.database, { words: words || undefined, state, after, limit: pageSize + 1 });
    const accounts = found.slice(0, pageSize);
    const last = accounts.at(-1)?.id;
    const next =
      found.length > pageSize && last !== undefined ? { q: words, state: state ?? '', after: last } : undefined;
    return {
      path: '/operator/accounts',
      heading: t('operator.accounts'),
      links: [
        { path: '/operator/accounts/heaviest', label: t('operator.heaviest') },
        ...linksWithin(gateway, '/operator/accounts', t),
      ],
      none: { title: t('operator.nothing'), text: t('operator.nothing_more') },
      searchLabel: t('operator.accounts_search'),
      words,
      state: state ?? '',
      choices: accountStates.map((choice) => ({ value: choice, label: t(`operator.account_state.${choice}`) })),
      table: accountTable(accounts, request),
      next: next === undefined ? '' : nextPath('/operator/accounts', next),
      isFirst: after === undefined,
    };
  },
});

const kinds: Readonly<Record<AccountState, TableCell['kind']>> = {
  active: 'ok',
  inactive: undefined,
  blocked: 'bad',
  deleted: undefined,
};

export function accountStateCell(state: AccountState, t: PageRequest['t']): TableCell {
  return { text: t(`operator.account_state.${state}`), kind: kinds[state] };
}

function accountTable(accounts: readonly AccountSummary[], reader: PageRequest): TableSection {
  const { t } = reader;
  const linkTo = (account: AccountSummary) => ({
    text: nameOfAccount(account, t),
    path: `/operator/accounts/${account.id}`,
  });
  return describeTable(reader, 'accounts', 'operator.accounts', accounts, [
    { label: 'operator.account', fit: 'id', at: 'title', cell: linkTo },
    { label: 'operator.name', fit: 'id', at: 'hide', cell: ({ name }) => nameOfPerson(name, t) },
    { label: 'operator.key', isSpare: true, at: 'note', cell: ({ hint = '' }) => ({ text: hint, isCode: true }) },
    { label: 'operator.state', at: 'end', cell: ({ state }) => accountStateCell(state, t) },
    { label: 'operator.plan_until', at: 'note-end', cell: ({ endsAt }) => endsAt },
    { label: 'operator.requests', at: 'hide', isNumber: true, cell: ({ requestCount }) => requestCount },
  ]);
}
