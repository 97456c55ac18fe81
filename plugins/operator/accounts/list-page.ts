import { accountStates } from '#core/business/accounts/account-list.ts';
import type { Registry } from '#core/extension/registry.ts';
import { linksWithin } from '#core/web/pages/list-navigation.ts';
import type { Page } from '#core/web/pages/page.ts';
import { accounts } from '#core/web/resources/accounts.ts';
import { listPage } from '#core/web/resources/list-page.ts';

const path = '/operator/accounts';

/** `/operator/accounts`: search by name, e-mail address, id, key hint and state, newest first. */
export const accountsPage = (gateway: Pick<Registry, 'pages'>): Page =>
  listPage(accounts, {
    path,
    title: 'operator.accounts',
    navigation: { icon: 'people', order: 30 },
    choices: accountStates,
    texts: 'operator.account_state',
    search: 'operator.accounts_search',
    none: ['operator.nothing', 'operator.nothing_more'],
    links: (t, host) => [
      { path: `${path}/heaviest`, label: t('operator.heaviest') },
      ...linksWithin(gateway, path, t, host),
    ],
  });
