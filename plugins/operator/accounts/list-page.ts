import { accountStates } from '#core/business/accounts/account-list.ts';
import type { Registry } from '#core/extension/registry.ts';
import { accounts } from '#core/web/resources/accounts.ts';
import { listPage } from '#core/web/resources/list-page.ts';

export const createAccountsPage = (gateway: Pick<Registry, 'pages'>) =>
  listPage(gateway, accounts, {
    path: '/operator/accounts',
    title: 'operator.accounts',
    navigation: { icon: 'people', order: 30 },
    choices: accountStates,
    texts: 'operator.account_state',
    search: 'operator.accounts_search',
    none: ['operator.nothing', 'operator.nothing_more'],
  });
